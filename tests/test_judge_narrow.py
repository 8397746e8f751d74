"""Claims that are won by little are measured in two pairs of processes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_kernelbench.judge.narrow import humbler, is_narrow, unconfirmed
from pytest_kernelbench.verdict import Measurement

WON = Measurement(
    baseline="eager",
    speedup=1.023,
    low=1.016,
    high=1.030,
    baseline_us=62.3,
    time_us=60.9,
    null_us=100.0,
    turns=10,
    calls=700,
    notes=("stopped: decided",),
)


@pytest.mark.parametrize(
    ("low", "thresholds", "narrow"),
    [
        (1.016, (1.0,), True),
        (1.04, (1.0,), True),
        (1.041, (1.0,), False),  # no two processes of one program were seen that far apart
        (1.0, (1.0,), False),  # nothing is claimed
        (0.99, (1.0,), False),
        (1.52, (1.0, 1.5), True),  # the gate's own threshold
        (1.52, (1.0, 2.0), False),
    ],
)
def test_what_is_won_by_little(*, low: float, thresholds: tuple[float, ...], narrow: bool) -> None:
    assert is_narrow(replace(WON, low=low), thresholds) is narrow


@pytest.mark.parametrize("swapped", [False, True])
def test_the_humbler_figure_counts_whichever_came_first(*, swapped: bool) -> None:
    lost = replace(WON, speedup=1.001, low=0.994, high=1.008)
    pair = (lost, WON) if swapped else (WON, lost)
    counted = humbler(*pair)
    assert (counted.speedup, counted.low, counted.high) == (1.001, 0.994, 1.008)
    assert counted.notes[0] == "stopped: decided"
    assert "the other one said 1.023x (1.016 to 1.030)" in counted.notes[1]


def test_what_cannot_be_measured_again_is_no_claim() -> None:
    counted = unconfirmed(WON, "the solution is too short")
    assert counted.low == 0.0
    assert counted.notes[-1] == "not confirmed in new processes: the solution is too short"
