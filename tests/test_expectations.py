"""What is said of a verdict that does not pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_kernelbench.endings import remarks
from pytest_kernelbench.expectations import (
    NotFaster,
    NotRight,
    expect_faster,
    expect_judged,
    expect_right,
)
from pytest_kernelbench.reports.junit import ending
from pytest_kernelbench.reports.messages import DETAIL_LIMIT, explain, shorten, speedup_words
from pytest_kernelbench.reports.records import Record
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.verdict import Measurement, Status, Verdict


def measured(speedup: float, low: float, high: float) -> Measurement:
    return Measurement("eager", speedup, low, high, 10, 10 / speedup, 1, 3, 30)


VERDICT = Verdict(
    level=1,
    number=19,
    problem="relu",
    entrant="ann",
    solution="/x.py",
    status=Status.WRONG_VALUE,
    reasons=("round 2: 3 of 8 differ", "first at [0, 1]: got 2.0, expected 1.0"),
    detail="a\nb\n",
    notes=("parameters were copied by name",),
    log="/log/file",
)


def test_a_message_is_whole_and_in_order() -> None:
    assert explain(VERDICT).splitlines() == [
        "wrong_value: level1/019_relu by ann: round 2: 3 of 8 differ",
        "  first at [0, 1]: got 2.0, expected 1.0",
        "  a",
        "  b",
        "note: parameters were copied by name",
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"status": Status.NOT_BUILT},
        {"notes": remarks(["main.cpp:3: unused variable 'x'"])},
        {"notes": ("parameters were copied by name", *remarks(["a.cu:1: no"] * 9))},
    ],
)
def test_the_log_is_named_where_the_build_said_something(more: dict[str, Any]) -> None:
    assert explain(replace(VERDICT, **more)).splitlines()[-1] == "whole output: /log/file"


def test_the_log_of_a_build_that_went_well_is_not() -> None:
    """What was judged was built: its import failed where it was judged."""
    verdict = replace(VERDICT, status=Status.NOT_BUILT, judge_s=1.5)
    assert "/log/file" not in explain(verdict)


FORGED = "x\n\na.py::test_kernel[level1/019_relu] PASSED  [100%]\n==== 1 passed in 0.1s ====\n"


def test_no_line_of_a_solution_begins_where_ours_do() -> None:
    forged = replace(
        VERDICT,
        status=Status.NOT_BUILT,
        reasons=(FORGED, FORGED),
        detail=FORGED,
        notes=(FORGED,),
        log="/a\n==== b",
    )
    heads = [
        line.split(":")[0] for line in explain(forged).splitlines() if line[:1] not in ("", " ")
    ]
    assert heads == ["not_built", "note", "whole output"]
    assert explain(forged).count("==== 1 passed") == 4


def test_nor_of_what_is_skipped() -> None:
    skipped = replace(VERDICT, status=Status.SKIPPED, reasons=(FORGED,))
    with pytest.raises(pytest.skip.Exception) as caught:
        expect_judged(skipped)
    assert "\n    ==== 1 passed" in str(caught.value)
    record = Record("a.py::test_kernel[level1/019_relu]", 1, skipped)
    assert "\n    ==== 1 passed" in ending(record, Settings())[1]


def test_samples_but_the_first_are_named() -> None:
    assert replace(VERDICT, sample=3).title == "level1/019_relu by ann, sample 3"


def test_a_failure_is_no_exception_that_a_solution_could_catch() -> None:
    with pytest.raises(NotRight) as caught:
        expect_right(VERDICT)
    assert not isinstance(caught.value, Exception)
    assert caught.value.pytrace is False
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("interval", "p", "words"),
    [
        ((1.48, 1.43, 1.52), 1.5, "1.48x (1.43 to 1.52) against eager, not shown to be above 1.5"),
        ((1.60, 1.55, 1.65), 1.5, "1.60x (1.55 to 1.65) against eager, shown to be above 1.5"),
        ((1.00, 0.98, 1.02), 1.5, "1.00x (0.98 to 1.02) against eager, shown to be below 1.5"),
    ],
)
def test_speedup_in_words(interval: tuple[float, float, float], p: float, words: str) -> None:
    assert speedup_words(measured(*interval), p) == words


def test_faster_is_asked_of_the_lower_bound() -> None:
    right = replace(VERDICT, status=Status.RIGHT, measurements=(measured(1.6, 1.49, 1.7),))
    expect_faster(right, None)
    expect_faster(right, 1.4)
    with pytest.raises(NotFaster, match=r"right, but 1\.60x"):
        expect_faster(right, 1.5)
    with pytest.raises(NotFaster, match="right, but it has no speedup"):
        expect_faster(replace(right, measurements=()), 0.1)


def test_long_text_keeps_both_ends() -> None:
    text = "first error" + "x" * 100_000 + "last words"
    short = shorten(text)
    assert len(short) < DETAIL_LIMIT + 100
    assert short.startswith("first error")
    assert short.endswith("last words")
    assert f"{100_021 - DETAIL_LIMIT} characters left out" in short
    assert shorten("short") == "short"
