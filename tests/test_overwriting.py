"""A file that is written is none of those that are read, whatever each is called."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from made_records import outcome_of, runs_of, session

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.judge.audit import Report
from pytest_kernelbench.overwriting import (
    refuse_comparing_with_itself,
    refuse_other_kind,
    refuse_overwriting,
    same_file,
)
from pytest_kernelbench.reports import csv, eval_results, junit, markdown, trace
from pytest_kernelbench.reports.html import page
from pytest_kernelbench.reports.records import encode
from pytest_kernelbench.settings import Settings


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "base.jsonl"
    file.write_text("{}\n")
    Path("copy.jsonl").write_text("{}\n")
    Path("soft.jsonl").symlink_to(file)
    os.link(file, "hard.jsonl")
    Path("folder").mkdir()
    Path("later.jsonl").symlink_to("new.jsonl")
    return file


@pytest.mark.parametrize("name", ["base.jsonl", "folder/../base.jsonl", "soft.jsonl", "hard.jsonl"])
def test_the_same_file(base: Path, name: str) -> None:
    assert same_file(Path(name), base)


@pytest.mark.parametrize("name", ["copy.jsonl", "new.jsonl"])
def test_another_file(base: Path, name: str) -> None:
    assert not same_file(Path(name), base)


def test_files_that_are_not_there_yet(base: Path) -> None:
    assert same_file(Path("later.jsonl"), base.with_name("new.jsonl"))
    assert not same_file(Path("new.jsonl"), base.with_name("newer.jsonl"))


def test_what_keeps_nothing_may_be_named_twice() -> None:
    null = Path(os.devnull)
    refuse_overwriting([("--kb-compare", null)], [("--kb-json", null), ("--kb-csv", null)])


def test_refused(base: Path) -> None:
    other = base.with_name("other.csv")
    refuse_overwriting([("--kb-compare", base)], [("--kb-csv", other)])
    with pytest.raises(UsageError, match=r"--kb-json would write over --kb-compare .*base.jsonl: "):
        refuse_overwriting([("--kb-compare", base)], [("--kb-json", Path("soft.jsonl"))])
    with pytest.raises(UsageError, match=r"--kb-csv and --kb-html would both write .*other.csv: "):
        refuse_overwriting([], [("--kb-csv", other), ("--kb-html", Path("other.csv"))])


def test_what_is_compared_with_itself(base: Path) -> None:
    refuse_comparing_with_itself([("argument", Path("copy.jsonl"))], ("--compare", base))
    for name in ("base.jsonl", "soft.jsonl", "hard.jsonl"):
        with pytest.raises(UsageError, match=r"--compare and argument are both .*base.jsonl: "):
            refuse_comparing_with_itself([("argument", Path(name))], ("--compare", base))


RECORDS = session(4)
VERDICTS = [record.verdict for record in RECORDS]
RUNS = runs_of(RECORDS)
AUDIT = json.dumps(asdict(Report("level1/001_relu"))) + "\n"
WRITERS: dict[str, Callable[[Path], object]] = {
    "--kb-json": lambda path: path.write_bytes(encode(RECORDS[0])),
    "--kb-csv": lambda path: csv.write(path, VERDICTS),
    "--kb-trace": lambda path: trace.write(path, VERDICTS),
    "--kb-eval-results": lambda path: eval_results.write(path, VERDICTS[:1]),
    "--kb-markdown": lambda path: markdown.write(path, outcome_of(RUNS), []),
    "--kb-html": lambda path: page.write(path, RUNS, outcome_of(RUNS)),
    "--junit": lambda path: junit.write(path, RECORDS, Settings()),
    "--json": lambda path: path.write_text(AUDIT),
}
STRANGERS = ("import torch\n", "# A project\n", '{"name2": 1}\n', "[1]\n", "a,b\n", "\x00\x01")


@pytest.mark.parametrize("name", WRITERS)
def test_only_what_an_option_writes_is_written_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file"
    refuse_other_kind(name, path)
    WRITERS[name](path)
    assert path.stat().st_size
    refuse_other_kind(name, path)
    refuse_other_kind(name.replace("--kb-", "--") if name != "--kb-json" else name, path)
    for text in STRANGERS:
        path.write_text(text)
        with pytest.raises(UsageError, match=f"{name} .*: it is there and holds no .*: name anot"):
            refuse_other_kind(name, path)
        assert path.read_text() == text
    path.write_text("\n")
    refuse_other_kind(name, path)


@pytest.mark.parametrize("text", [json.dumps([], indent=1), json.dumps([{"case": "x"}], indent=1)])
def test_a_selftest_goes_over_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "selftest.json"
    path.write_text(text)
    refuse_other_kind("--json", path)


def test_devices_hold_nothing() -> None:
    refuse_other_kind("--kb-json", Path(os.devnull))


def test_every_output_of_pytest_has_a_kind(tmp_path: Path) -> None:
    from pytest_kernelbench.checking import WRITTEN
    from pytest_kernelbench.options import OPTIONS

    path = tmp_path / "file"
    path.write_text("text")
    flags = [each.flag for each in OPTIONS if each.field in WRITTEN and each.field != "resume"]
    assert sorted(flags) == sorted(name for name in WRITERS if name.startswith("--kb-"))
    for flag in flags:
        with pytest.raises(UsageError):
            refuse_other_kind(flag, path)
