"""``--kb-html`` and ``kb report --html``, as someone at a command line has them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_records import outcome_of, runs_of, session

# As in conftest.py: what an inner run imports pytester forgets with it, and numpy, of which
# matplotlib is made, can be imported only once a process.
import pytest_kernelbench.reports.canvas
import pytest_kernelbench.reports.html.page  # noqa: F401
from pytest_kernelbench.cli import main
from pytest_kernelbench.reports.html.writer import HtmlWriter
from pytest_kernelbench.reports.records import Asked, encode
from pytest_kernelbench.settings import Settings


def timeless(page: str, run: str) -> str:
    """Without what differs between two ways to the same page."""
    page = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "now", page)
    page = re.sub(r'id="rows">[^<]*<', "", page)  # has the name of the run, packed
    return page.replace(f"{run}: 3 records", "records")


@pytest.fixture
def judged(tree):
    tree.problem("level1/001_p", "level1/002_p", "level2/001_q")
    tree.solution("ann/level1/001_p", "fast 3", body="# ann was here\n")
    tree.solution("ann/level1/002_p", "right 1.2 0.9 1.4")
    tree.solution("bob/level2/001_q", "not_built")
    return tree


def test_a_session_and_its_records_give_the_same_page(judged) -> None:
    result = judged.run("solutions", "--kb-html=page.html", "--kb-json=out.jsonl")
    result.stdout.fnmatch_lines([f"report: {judged.path / 'page.html'}"])
    page = (judged.path / "page.html").read_text(encoding="utf-8")
    assert (
        main(["report", str(judged.path / "out.jsonl"), "--html", str(judged.path / "x.html")]) == 0
    )
    again = (judged.path / "x.html").read_text(encoding="utf-8")
    assert timeless(page, "this session") == timeless(again, "out")


def test_a_session_beside_the_one_before(tmp_path) -> None:
    before, now = session(8), session(4, factor=2.0)
    earlier = tmp_path / "before.jsonl"
    earlier.write_bytes(b"".join(encode(each) + b"\n" for each in before))
    settings = Settings(compare=earlier)
    runs = runs_of(now)
    page = tmp_path / "page.html"
    writer = HtmlWriter(page, settings, lambda *_: Asked(10), lambda: outcome_of(runs))
    for each in now:
        writer.pytest_kernelbench_verdict(each.verdict, each.nodeid)
    lines: list[str] = []
    writer.pytest_terminal_summary(SimpleNamespace(write_line=lines.append))
    assert lines == [f"report: {page}"]
    text = page.read_text(encoding="utf-8")
    assert "First before, then this session." in text
    assert "4 pairs of 2 problems" in text, "those of this session only"
    assert "before: 4 records" in text


def test_levels_and_entrants_can_be_chosen_afterwards(judged) -> None:
    judged.run("solutions", "--kb-json=out.jsonl")
    arguments = [str(judged.path / "out.jsonl"), "--html", str(judged.path / "x.html")]
    assert main(["report", *arguments, "--entrant", "bob"]) == 0
    assert "1 pair of 1 problem with solutions by 1 entrant" in (judged.path / "x.html").read_text()


def test_a_page_that_cannot_be_written_spoils_nothing(judged) -> None:
    (judged.path / "page.html").symlink_to("/proc/nowhere")
    result = judged.run("solutions/ann", "--kb-html=page.html")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*page.html could not be written: *"])


def test_a_folder_whose_name_is_no_text_ends_no_session(tree) -> None:
    """Whoever names it could else keep a session from writing any report."""
    tree.problem("level1/001_p")
    folder = Path(os.fsdecode(os.fsencode(tree.path) + b"/solutions/\xff/level1"))
    folder.mkdir(parents=True)
    (folder / "001_p.py").write_text("# fake: fast 2\nclass ModelNew: pass\n")
    names = ("html", "json", "csv", "trace", "eval-results", "markdown")
    options = (f"--kb-{name}={name}.out" for name in names)
    # Without pytest's cache, which cannot write such a name down; nor can pytester read it.
    command = [sys.executable, "-m", "pytest", "solutions", "-p", "no:cacheprovider", *options]
    result = subprocess.run(command, cwd=tree.path, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert {path.name for path in tree.path.glob("*.out")} == {f"{name}.out" for name in names}
    (line,) = (tree.path / "json.out").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["entrant"] == r"\xdcff"


def test_without_matplotlib_it_is_said_before_anything_runs(judged, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    result = judged.run("solutions", "--kb-html=page.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the HTML report needs jinja2 and matplotlib*html]'*"])
