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

from pytest_kernelbench.reports.messages import explain, faster_words
from pytest_kernelbench.texts import hanging
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.verdict import Verdict


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
        pytest.skip(hanging("; ".join(verdict.reasons)) or "cannot run here")
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
    if p is not None and not verdict.faster_than(p):
        raise NotFaster(faster_words(verdict, p)) from None
