"""Words that claim what was shown, with digits that let one see it."""

from __future__ import annotations

import math

import pytest

from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.timing.words import (
    control_words,
    interval_words,
    speedup_words,
)


@pytest.mark.parametrize(
    ("interval", "thresholds", "words"),
    [
        ((1.48, 1.43, 1.52), (1.5,), "1.48x (1.43 to 1.52), not shown to be above 1.5"),
        (
            (1.48, 1.431, 1.519),
            (1.0, 1.5),
            "1.48x (1.43 to 1.52), shown to be above 1, not shown to be above 1.5",
        ),
        ((0.8, 0.78, 0.82), (1.0,), "0.80x (0.78 to 0.82), shown to be below 1"),
        ((1.0038, 1.0012, 1.0064), (1.0,), "1.00x (1.001 to 1.01), shown to be above 1"),
        ((0.997, 0.994, 0.9996), (1.0,), "1.00x (0.99 to 0.9996), shown to be below 1"),
        ((1.0, 0.9999, 1.0001), (1.0,), "1.00x (0.99 to 1.01), not shown to be above 1"),
        ((1.2, 1.0, 1.4), (1.0,), "1.20x (1.00 to 1.40), not shown to be above 1"),
        ((12.34, 12.31, 12.36), (1.0,), "12.3x (12.3 to 12.4), shown to be above 1"),
        ((153.4, 150.2, 156.7), (), "153x (150 to 157)"),
    ],
)
def test_speedup(
    interval: tuple[float, float, float], thresholds: tuple[float, ...], words: str
) -> None:
    assert speedup_words(Interval(*interval), thresholds) == words


@pytest.mark.parametrize("cents", range(100, 200))
def test_two_digits_stay_what_they_are(cents: int) -> None:
    """floor(1.13 * 100) is 112 in binary arithmetic."""
    value = cents / 100
    assert (
        interval_words(Interval(value, value, value))
        == f"{value:.2f}x ({value:.2f} to {value:.2f})"
    )


@pytest.mark.parametrize("ends", [(0.0, math.inf), (0.5, math.inf), (0.0, 3.0)])
def test_no_interval_is_said(ends: tuple[float, float]) -> None:
    told = speedup_words(Interval(1.5, *ends), (1.0,))
    assert told == "1.50x (too few turns for an interval), not shown to be above 1"


def test_a_control_that_misses_one_is_a_warning() -> None:
    good = control_words(Interval(1.001, 0.996, 1.006))
    assert good == "reference against itself: 1.00x (0.99 to 1.01)"
    bad = control_words(Interval(1.04, 1.02, 1.06))
    assert "1.04x (1.02 to 1.06)" in bad
    assert "look for other load" in bad
