"""What a verdict must be for its item to pass, and what is said when it is not.

KernelFailure          (a pytest.fail.Exception: only its message is printed)
NotBuilt             error at setup
BadProblem           error at setup
NotJudged            error at setup
NotRight             failed
OnlyLibraryKernels   failed, under --kb-strict
NotFaster            failed, under --kb-p
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.timing import words
from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.verdict import Measurement, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

DETAIL_LIMIT = 16_000
"""Characters of detail in a message; people who feed messages to models ask for a cap."""


class KernelFailure(pytest.fail.Exception):  # type: ignore[misc,name-defined]
    """An item's failure, told in words: no traceback through the plugin's own code."""

    def __init__(self, message: str) -> None:
        super().__init__(message, pytrace=False)


class NotBuilt(KernelFailure):
    """The solution could not be built."""


class BadProblem(KernelFailure):
    """No kernel can be judged by this problem."""


class NotJudged(KernelFailure):
    """The machine failed, not the solution."""


class NotRight(KernelFailure):
    """The solution does not do what its problem does."""


class OnlyLibraryKernels(KernelFailure):
    """The solution ran nothing but the library kernels that the baseline runs too."""


class NotFaster(KernelFailure):
    """The solution is not shown to be as fast as ``--kb-p`` asks."""


SETUP_ERRORS: dict[Status, type[KernelFailure]] = {
    Status.NOT_BUILT: NotBuilt,
    Status.BAD_PROBLEM: BadProblem,
    Status.NOT_JUDGED: NotJudged,
}


def expect_judged(verdict: Verdict) -> None:
    """Skip what cannot run here; an error for what could not be judged at all."""
    if verdict.status is Status.SKIPPED:
        pytest.skip("; ".join(verdict.reasons) or "cannot run here")
    if (failure := SETUP_ERRORS.get(verdict.status)) is not None:
        raise failure(explain(verdict)) from None


def expect_right(verdict: Verdict) -> None:
    """Fail what does not agree with its problem, or did not live to show it."""
    if not verdict.status.right:
        raise NotRight(explain(verdict)) from None


def expect_own_kernels(verdict: Verdict, *, strict: bool) -> None:
    """Under ``--kb-strict``, fail what only called the library."""
    if strict and verdict.status is Status.NOT_A_KERNEL:
        raise OnlyLibraryKernels(explain(verdict)) from None


def expect_faster(verdict: Verdict, p: float | None) -> None:
    """Fail what is not shown to be more than ``p`` times as fast; None asks for nothing."""
    if p is None or verdict.faster_than(p):
        return
    measured = verdict.measurement
    told = "it has no time" if measured is None else speedup_words(measured, p)
    message = f"{title(verdict)}: right, but {told}"
    raise NotFaster(message) from None


def speedup_words(measured: Measurement, p: float) -> str:
    """``1.48x (1.43 to 1.52) against eager, not shown to be above 1.5``."""
    interval = Interval(measured.speedup, measured.low, measured.high)
    told, claim = words.speedup_words(interval, (p,)).rsplit(", ", 1)
    return f"{told} against {measured.baseline}, {claim}"


def title(verdict: Verdict) -> str:
    """``level1/019_relu by ann``, with the sample if it is not the first."""
    sample = f", sample {verdict.sample}" if verdict.sample else ""
    problem = f"level{verdict.level}/{verdict.number:03d}_{verdict.problem}"
    return f"{problem} by {verdict.entrant}{sample}"


def explain(verdict: Verdict) -> str:
    """The whole message of a failure: status, reasons, detail, and where the rest is."""
    return "\n".join(_lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    reasons = verdict.reasons or ("no reason was given",)
    yield f"{verdict.status.value}: {title(verdict)}: {reasons[0]}"
    yield from (f"  {reason}" for reason in reasons[1:])
    if verdict.detail:
        yield shorten(verdict.detail.rstrip("\n"))
    yield from (f"note: {note}" for note in verdict.notes)
    if verdict.log:
        yield f"whole output: {verdict.log}"


def shorten(text: str, limit: int = DETAIL_LIMIT) -> str:
    """Keep both ends of a long text: the first error stands early, the last words late."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n... {left_out} characters left out ...\n{tail}"
