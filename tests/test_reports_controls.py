"""The reference against itself, in the words of reports."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_records import measured, outcome_of, record, runs_of

from pytest_kernelbench.reports.controls import control_line
from pytest_kernelbench.reports.html.page import _facts
from pytest_kernelbench.reports.summary import circumstances
from pytest_kernelbench.verdict import Measurement

REMARK = "this machine is too busy or noisy to tell small differences"


def control(speedup: float, low: float, high: float) -> Measurement:
    return replace(measured(speedup), low=low, high=high)


@pytest.mark.parametrize(
    ("ends", "remark"),
    [
        ((0.67, 0.29, 1.14), REMARK),
        ((1.0, 0.95, 1.06), REMARK),
        ((1.0, 0.96, 1.05), None),
        ((1.3, 1.1, 1.5), "look for other load"),
        ((1.0, 0.0, 3.0), "too few turns for an interval"),
        ((1.0, 0.5, math.inf), None),
    ],
)
def test_a_wide_interval_has_a_remark(ends: tuple[float, float, float], remark: str | None) -> None:
    told = control_line(control(*ends))
    assert told.startswith("reference against itself: ")
    assert (remark in told) if remark else ";" not in told
    assert (REMARK in told) is (remark == REMARK)


def test_summary_and_page_say_it() -> None:
    one = record(speedup=1.5)
    noisy = replace(one.verdict, control=control(0.67, 0.29, 1.14), device="CPU")
    runs = runs_of([replace(one, verdict=noisy)])
    outcome = outcome_of(runs)
    assert REMARK in " ".join(" ".join(circumstances(outcome)).split())
    assert REMARK in dict(_facts(runs, outcome))["A/A control"][0]
