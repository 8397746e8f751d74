"""``--kb-resume``: a session that was killed goes on where it was, and nothing is judged twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_kernelbench.cli import main

COUNTING = """
import signal

class CountingEngine(FakeEngine):
    def judge(self, pair, extension):
        with open("judged", "a") as file:
            file.write(f"{pair.solution.entrant}/{pair.problem.id}\\n")
        if pair.problem.number == 3 and os.path.exists("fatal"):
            os.remove("fatal")
            session = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
            os.kill(session, signal.SIGKILL)
        return super().judge(pair, extension)

def pytest_kernelbench_engine(settings):
    return CountingEngine(settings)
"""


@pytest.fixture
def counted(tree):
    """Five problems, two entrants, an engine that writes down what it judges."""
    path = tree.path / "conftest.py"
    path.write_text(path.read_text() + COUNTING)
    for number in range(1, 6):
        tree.problem(f"level1/{number:03d}_p")
        tree.solution(f"ann/level1/{number:03d}_p", f"fast {number}")
    tree.solution("bob/level1/001_p", "wrong_value")
    tree.solution("bob/level1/002_p", "right 0.5")
    return tree


def judged(tree) -> list[str]:
    """What was judged since it was last asked."""
    path = tree.path / "judged"
    if not path.exists():
        return []
    names = path.read_text().splitlines()
    path.unlink()
    return sorted(names)


def statuses(path: Path) -> dict[str, str]:
    """By node id; fails where one is there twice."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    found = {record["nodeid"]: record["status"] for record in records}
    assert len(found) == len(records), "no pair has two records"
    return found


def summary(result: pytest.RunResult) -> list[str]:
    """Its tables."""
    start = next(i for i, line in enumerate(result.outlines) if "= kernelbench =" in line)
    table = result.outlines[start + 1 :]
    return table[: next(i for i, line in enumerate(table) if line.startswith("n: "))]


def said(result: pytest.RunResult, word: str) -> str:
    """The lines from the one with ``word`` on, as one."""
    lines = iter(result.outlines)
    first = next(line for line in lines if word in line)
    return " ".join([first, *lines])


@pytest.mark.parametrize("xdist", [[], ["-n2"]], ids=["alone", "xdist"])
def test_a_killed_session_is_gone_on_with(counted, xdist: list[str]) -> None:
    args = ["solutions", "-v", "-p", "no:benchmark", *xdist]
    whole = counted.run(*args[:4], "--kb-json=whole.jsonl")  # alone: the score is the same
    everything = judged(counted)
    (counted.path / "fatal").touch()
    killed = counted.pytester.runpytest_subprocess(*args, "--kb-resume=out.jsonl", timeout=60)
    assert killed.ret == -9
    file = counted.path / "out.jsonl"
    before = judged(counted)
    recorded = statuses(file)
    assert 0 < len(recorded) < 7
    with file.open("ab") as cut:
        cut.write(file.read_bytes()[:100])
    resumed = counted.run(*args, "--kb-resume=out.jsonl")
    assert statuses(file) == statuses(counted.path / "whole.jsonl"), "nothing is lost"
    assert summary(resumed) == summary(whole), "the score is the same"
    assert resumed.ret == whole.ret
    resumed.assert_outcomes(passed=6, failed=1)
    after = judged(counted)
    # What was under way when the session died has no record, and is judged again.
    assert len(after) == 7 - len(recorded)
    assert sorted({*before, *after}) == everything
    assert f"{len(recorded)} verdicts are of out.jsonl" in said(resumed, "verdicts are of")


def test_a_session_that_is_done_judges_nothing(counted) -> None:
    first = counted.run("solutions", "--kb-resume=out.jsonl")
    first.stdout.fnmatch_lines(["kernelbench: resumes *out.jsonl, which is new"])
    size = (counted.path / "out.jsonl").stat().st_size
    judged(counted)
    again = counted.run("solutions", "-v", "--kb-resume=out.jsonl")
    assert not judged(counted)
    assert (counted.path / "out.jsonl").stat().st_size == size
    again.stdout.fnmatch_lines(
        [
            "kernelbench: resumes *out.jsonl, which holds 7 verdicts",
            "*ann/level1/002_p.py::test_kernel?level1/002_p? PASSED 2.00x (recorded)*",
            "*bob/level1/001_p.py::test_kernel?level1/001_p? FAILED wrong_value (recorded)*",
            "wrong_value: level1/001_p by bob: it says so (wrong_value)",
        ]
    )


def test_records_go_on_by_whatever_name(counted) -> None:
    counted.run("solutions", "--kb-resume=out.jsonl")
    file = counted.path / "out.jsonl"
    (counted.path / "link.jsonl").symlink_to(file)
    before = file.read_bytes()
    counted.run("solutions/bob", "--kb-resume=out.jsonl", "--kb-json=link.jsonl")
    assert file.read_bytes() == before, "what was not asked now is still there"


HELPER = "solutions/ann/level1/common.cuh"
CHANGES = [
    ("solutions/ann/level1/002_p.py", [], ["ann/level1/002_p"], "1: solution"),
    ("problems/level1/001_p.py", [], ["ann/level1/001_p", "bob/level1/001_p"], "2: problem"),
    (HELPER, [], [f"ann/level1/{n:03d}_p" for n in range(1, 6)], "5: solution"),
    ("", ["--kb-seeds=2"], None, "7: seeds"),
    ("", ["--kb-p=1.5", "--kb-budget=1"], None, "7: budget_s, thresholds"),
    ("", ["--kb-fail-under=0", "--kb-at-k=1", "--kb-level=1"], [], ""),
    ("README.md", [], [], ""),
]


@pytest.mark.parametrize(("file", "args", "again", "why"), CHANGES)
def test_what_changed_is_judged_again(
    counted, file: str, args: list[str], again: list[str] | None, why: str
) -> None:
    counted.run("solutions", "--kb-resume=out.jsonl")
    everything = judged(counted)
    if file:
        path = counted.path / file
        path.write_text((path.read_text() if path.exists() else "") + "# changed\n")
    result = counted.run("solutions", "--kb-resume=out.jsonl", *args)
    expected = everything if again is None else again
    assert judged(counted) == expected
    if why:
        told = said(result, "verdicts are of")
        assert f"{len(expected)} pairs were judged again ({why})" in told
    judged(counted)
    counted.run("solutions", "--kb-resume=out.jsonl", *args)
    assert not judged(counted), "and then stays"


@pytest.mark.parametrize("fake", ["not_judged", "skipped", "missing"])
def test_what_says_nothing_is_asked_again(counted, fake: str) -> None:
    counted.solution("ann/level1/005_p", fake)
    counted.run("solutions/ann", "--kb-resume=out.jsonl")
    judged(counted)
    result = counted.run("solutions/ann", "--kb-resume=out.jsonl")
    assert judged(counted) == ([] if fake == "missing" else ["ann/level1/005_p"])
    status = "skipped" if fake == "missing" else fake
    assert f"1 pairs were judged again (1: were {status})" in said(result, "verdicts are of")


def test_another_file_gets_all_of_it_and_the_first_stays_as_it_is(counted) -> None:
    counted.run("solutions/ann", "--kb-json=one.jsonl")
    before = (counted.path / "one.jsonl").read_bytes()
    counted.run("solutions", "--kb-resume=one.jsonl", "--kb-json=two.jsonl")
    assert len(statuses(counted.path / "two.jsonl")) == 7
    assert (counted.path / "one.jsonl").read_bytes() == before


def test_a_file_that_changes_while_it_is_judged_is_judged_again(counted) -> None:
    path = counted.path / "conftest.py"
    touching = "        Path(pair.solution.path).open('a').write('# touched')\n"
    start = "    def judge(self, pair, extension):\n"
    head, tail = path.read_text().rsplit(start, 1)
    path.write_text(head + start + touching + tail)
    counted.run("solutions/bob", "--kb-resume=out.jsonl")
    judged(counted)
    counted.run("solutions/bob", "--kb-resume=out.jsonl")
    assert len(judged(counted)) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"level": 1}\n{"level": 2}\n', "*out.jsonl:1: not a record of schema 1: *"),
        ('{"nodeid": ' + "[" * 5_000, "*out.jsonl:1: not a record of schema 1: it is nested *"),
        (None, "*out.jsonl*not a file in a folder*"),
    ],
)
def test_refused(counted, content: str | None, message: str) -> None:
    path = counted.path / "out.jsonl"
    path.mkdir() if content is None else path.write_text(content)
    result = counted.run("solutions", "--kb-resume=out.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_records_of_a_resumed_session_are_reported_alike(counted, capsys) -> None:
    counted.run("solutions/ann", "--kb-resume=out.jsonl")
    result = counted.run("solutions", "--kb-resume=out.jsonl")
    capsys.readouterr()
    main(["report", str(counted.path / "out.jsonl")])
    printed = capsys.readouterr().out.splitlines()
    assert printed[: len(summary(result))] == summary(result)
