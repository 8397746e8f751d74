"""Why what is right has no speedup."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from made_records import measured, record

from pytest_kernelbench.reports.messages import faster_words
from pytest_kernelbench.untimed import untimed, why_untimed
from pytest_kernelbench.verdict import Measurement, Status, Verdict

TOO_SHORT = (
    "the baseline is too short to be timed: {} us per call are left; judge it at a larger size"
)
BUSY = "the processors were too busy with other work to say which of the two is faster"
TOLD = "other processes took 47% of the processors while this was timed"
STOPPED = "stopped: the budget is spent"


def right(**more: Any) -> Verdict:
    return record(**more).verdict


def doubted(*notes: str, **more: Any) -> Measurement:
    return replace(measured(0.84), low=0.0, notes=notes, **more)


def short(us: float, number: int = 1) -> Verdict:
    return right(
        number=number, notes=("a note", f"not timed against eager: {TOO_SHORT.format(us)}")
    )


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        (right(speedup=0.8), ""),
        (right(status=Status.WRONG_VALUE), ""),
        (short(1.2), TOO_SHORT.format(1.2)),
        (right(notes=("not timed against its earlier source: that is not built here",)),
         "no time is recorded, and no reason"),
        (replace(right(), status=Status.RAISED, agreed=True), "raised when it was timed"),
        (replace(right(), measurements=(doubted(BUSY, TOLD, STOPPED),)), BUSY),
        (replace(right(), measurements=(doubted(TOLD, STOPPED, high=math.inf),)),
         "too few turns for an interval"),
        (replace(right(), measurements=(doubted(STOPPED),)), "too few turns for an interval"),
        (replace(right(), measurements=(doubted(TOLD, "not confirmed in new processes: x"),)),
         "not confirmed in new processes: x"),
        (right(speedup=1e12), "its speedup is no ratio of two times"),
    ],
)  # fmt: skip
def test_why(verdict: Verdict, why: str) -> None:
    assert why_untimed(verdict) == why


def test_what_was_not_asked_for() -> None:
    verdict = right()
    assert verdict.provenance is not None
    asked = replace(verdict.provenance, settings={"correctness_only": True})
    assert why_untimed(replace(verdict, provenance=asked)) == "no time was asked for"


def test_under_strict_a_library_kernel_is_not_right() -> None:
    assert why_untimed(right(status=Status.NOT_A_KERNEL))
    assert not why_untimed(right(status=Status.NOT_A_KERNEL), strict=True)


def test_the_same_reason_with_other_figures_is_told_once() -> None:
    busy = replace(right(number=3), measurements=(doubted(BUSY),))
    found = untimed([busy, short(1.2, 1), right(speedup=2.0), short(0.7, 2)])
    assert [(each.reason, [v.number for v in each.verdicts]) for each in found] == [
        ("the baseline is too short to be timed; judge it at a larger size", [1, 2]),
        (BUSY, [3]),
    ]


def test_a_pair_that_was_asked_says_why_it_has_none() -> None:
    busy = replace(right(), measurements=(doubted(BUSY),))
    assert faster_words(busy, 1.5).endswith(f"right, but it has no speedup: {BUSY}")
