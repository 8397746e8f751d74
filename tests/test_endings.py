"""What exceptions of the engine say of a pair."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.endings import ended_by, remarks
from pytest_kernelbench.errors import BuildError, MachineError, MissingNeedError, ProblemError
from pytest_kernelbench.verdict import Status

PAIR = Pair(Problem(Path("p.py"), 1, 19, "relu"), Solution(Path("s.py"), "ann", 3))
TRACE = 'Traceback (most recent call last):\n  File "s.py", line 1, in <module>\nKeyError: 3'


@pytest.mark.parametrize(
    ("error", "status", "reason", "detail"),
    [
        (BuildError("s.py:3: error: no\n    int x"), "not_built", "s.py:3: error: no", "    int x"),
        (BuildError(TRACE), "not_built", "KeyError: 3", TRACE),
        (
            BuildError(f"{TRACE}\na.cu:1: error: x"),
            "not_built",
            "KeyError: 3",
            f"{TRACE}\na.cu:1: error: x",
        ),
        (MissingNeedError("no nvcc", need="nvcc"), "skipped", "no nvcc", ""),
        (ProblemError("it is constant"), "bad_problem", "it is constant", ""),
        (MachineError("the disk is full"), "not_judged", "the disk is full", ""),
    ],
)
def test_an_exception_becomes_a_verdict(
    error: Exception, status: str, reason: str, detail: str
) -> None:
    verdict = ended_by(error, PAIR)
    assert verdict.status is Status(status)
    assert verdict.reasons == (reason,)
    assert verdict.detail == detail
    assert (verdict.level, verdict.number, verdict.entrant, verdict.sample) == (1, 19, "ann", 3)


def test_a_bug_of_ours_is_nobodys_fault() -> None:
    try:
        [].pop()
    except IndexError as error:
        verdict = ended_by(error, PAIR)
    assert verdict.status is Status.NOT_JUDGED
    assert verdict.reasons[0].startswith("the judge itself failed: IndexError")
    assert "test_endings.py" in verdict.detail


def test_a_stop_is_no_bug_of_ours() -> None:
    """Two Ctrl-C in a row while a lock is waited for: it is given back though nobody holds it."""
    lock = threading.Lock()

    def wait() -> None:
        with lock:
            lock.release()  # as a condition does while it waits
            raise KeyboardInterrupt

    with pytest.raises(RuntimeError) as caught:
        wait()
    with pytest.raises(KeyboardInterrupt):
        ended_by(caught.value, PAIR)


def test_what_compilers_warned_of_is_noted() -> None:
    """Of a solution that failed as of one that was built: the first few."""
    warned = tuple(f"a.cu:{n}: unused\n    int n{n};" for n in range(1, 11))
    notes = ended_by(BuildError("no", warnings=warned), PAIR).notes
    assert notes[0] == "build: a.cu:1: unused\n    int n1;"
    assert notes[-1] == "build: 2 more warnings, in the log"
    assert remarks(warned[:2]) == notes[:2]
