"""A file that is written is none of those that are read, whatever each is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.overwriting import (
    refuse_comparing_with_itself,
    refuse_overwriting,
    same_file,
)


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
