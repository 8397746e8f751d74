"""Speedups in words that claim exactly what was shown.

Ends of an interval are rounded outwards, and with as many digits as it takes to see on which side
of a threshold they lie: "1.0038x (1.0012 to 1.01), shown to be above 1" and never "(1.00 to ...)".
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.timing.interval import Interval

_MOST_DIGITS = 6


def interval_words(interval: Interval, thresholds: Sequence[float] = ()) -> str:
    """``1.48x (1.43 to 1.52)``."""
    low_digits, high_digits = _digits(interval.low), _digits(interval.high)
    for threshold in thresholds:
        while (
            interval.above(threshold)
            and low_digits < _MOST_DIGITS
            and Decimal(_rounded(interval.low, low_digits, ROUND_FLOOR)) <= Decimal(repr(threshold))
        ):
            low_digits += 1
        while (
            interval.below(threshold)
            and high_digits < _MOST_DIGITS
            and Decimal(_rounded(interval.high, high_digits, ROUND_CEILING))
            >= Decimal(repr(threshold))
        ):
            high_digits += 1
    center = _rounded(interval.center, _digits(interval.center), ROUND_HALF_EVEN)
    if interval.low <= 0.0 or math.isinf(interval.high):
        return f"{center}x (too few turns for an interval)"
    low = _rounded(interval.low, low_digits, ROUND_FLOOR)
    high = _rounded(interval.high, high_digits, ROUND_CEILING)
    return f"{center}x ({low} to {high})"


def speedup_words(interval: Interval, thresholds: Sequence[float] = (1.0,)) -> str:
    """``1.48x (1.43 to 1.52), shown to be above 1, not shown to be above 1.5``."""
    claims = [_claim(interval, threshold) for threshold in thresholds]
    return ", ".join([interval_words(interval, thresholds), *claims])


def control_words(interval: Interval) -> str:
    """What the A/A control says about this session: ``reference against itself: ...``."""
    told = interval_words(interval, (1.0,))
    if interval.decides(1.0):
        return (
            f"reference against itself: {told}; it should hold 1, so speedups this close to 1 "
            "mean nothing here: look for other load on the device"
        )
    return f"reference against itself: {told}"


def _claim(interval: Interval, threshold: float) -> str:
    if interval.above(threshold):
        return f"shown to be above {threshold:g}"
    if interval.below(threshold):
        return f"shown to be below {threshold:g}"
    return f"not shown to be above {threshold:g}"


def _digits(value: float) -> int:
    """Three significant digits for a speedup, two decimals at most."""
    return 2 if value < 10.0 else 1 if value < 100.0 else 0  # noqa: PLR2004


def _rounded(value: float, digits: int, how: str) -> str:
    # Decimal of the shortest form: floor(1.43 * 100) must not be 142.
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=how))
