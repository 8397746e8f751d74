"""Where a speedup lies: an interval that stays true however often it is looked at.

The data are log ratios, one a pair of turns. They are noisy in an ugly way: outliers of tens of
percent (a neighbour, an interrupt), clocks that jump between two levels, neighbours in time that
resemble each other. So the interval is the set of shifts that Wilcoxon's signed-rank test does not
reject, whose ends are ordered pairwise means: as narrow as Student's t in calm noise, seven times
narrower where one turn in ten is interrupted. Below ten pairs ranks cannot tell enough and t is
used, strictly.

Whoever measures until something is decided looks many times, and each look is a chance to be
fooled. So every look is held to a level so strict (``LEVEL``, ``STRICT_LEVEL``; each side) that all
looks after an even number of pairs up to ``MOST_PAIRS`` *together* are wrong on one side less often
than 2.5 % (simulated: 2.0 % for independent noise, less where the interval is widened for likeness
of neighbours, see ``_inflation``). The interval is therefore valid at any stopping rule. Where each
side's own noise is so lasting that neighbouring turns are alike by 0.7, it is not (8 %).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_PAIRS = 128
"""Levels are calibrated for looks up to here; a measurement must stop by then."""
LEVEL = 0.002
"""One-sided error of one look by ranks."""
STRICT_LEVEL = 0.0004
"""One-sided error of one look by Student's t, used below ``RANK_PAIRS`` pairs."""
RESOLUTION = 0.0005
"""No speedup is known better than to this fraction: clocks tick; equal turns prove little."""

RANK_PAIRS = 10
"""From so many on ranks tell enough."""
# Student's t at STRICT_LEVEL by number of pairs (not degrees of freedom); a test integrates them.
_T = {
    2: 795.7743,
    3: 35.3341,
    4: 13.9357,
    5: 9.1257,
    6: 7.2098,
    7: 6.2168,
    8: 5.6189,
    9: 5.2226,
}


@dataclass(frozen=True)
class Interval:
    """A speedup and the 95 % interval it lies in; ``low <= center <= high`` always."""

    center: float
    low: float
    high: float

    def above(self, threshold: float) -> bool:
        """Whether the speedup is shown to be larger than ``threshold``."""
        return self.low > threshold

    def below(self, threshold: float) -> bool:
        """Whether the speedup is shown to be smaller than ``threshold``."""
        return self.high < threshold

    def decides(self, threshold: float) -> bool:
        """Whether the interval lies wholly on one side of ``threshold``."""
        return self.above(threshold) or self.below(threshold)

    @property
    def width(self) -> float:
        """Upper over lower end, less one: 0.02 means "known to about plus or minus 1 %"."""
        return self.high / self.low - 1.0 if self.low > 0.0 else math.inf

    def widened(self, fraction: float) -> Interval:
        """With an error of ``fraction``, at two standard errors, that turns do not show.

        Two processes that run the same program differ by where their memory lies, in each turn
        alike. That has nothing to do with the noise of the turns, so it joins in quadrature.
        """
        if fraction < 0.0:
            message = f"an interval is widened by a fraction of at least 0, not by {fraction}"
            raise ValueError(message)
        return Interval(
            self.center,
            self.center * _joined(self.low / self.center, -fraction),
            self.center * _joined(self.high / self.center, fraction),
        )


def from_log_ratios(log_ratios: Sequence[float], extra: float = 0.0) -> Interval:
    """The speedup from one finite log ratio a pair of turns, in the order they were measured.

    ``extra`` is an error of the logarithm that all pairs share (uncertainty of what was subtracted
    from them); it joins in quadrature. One pair gives an interval from 0 to infinity.
    """
    if not log_ratios or not all(map(math.isfinite, log_ratios)):
        message = "an interval needs at least one log ratio, and finite ones only"
        raise ValueError(message)
    center = median(log_ratios)
    if len(log_ratios) == 1:
        return Interval(math.exp(center), 0.0, math.inf)
    low, high = _t_ends(log_ratios) if len(log_ratios) < RANK_PAIRS else _rank_ends(log_ratios)
    # In skewed noise the median may lie beyond the ends of the means; both are then believed.
    down = math.hypot(max(center - low, RESOLUTION), extra)
    up = math.hypot(max(high - center, RESOLUTION), extra)
    return Interval(_exp(center), _exp(center - down), _exp(center + up))


def _joined(end: float, fraction: float) -> float:
    """An end of an interval around 1, moved outwards by an independent ``fraction`` of 1."""
    if end == 0.0 or math.isinf(end):
        return end
    return _exp(math.copysign(math.hypot(math.log(end), math.log1p(abs(fraction))), fraction))


def _exp(value: float) -> float:
    # Two wild pairs can give ends beyond any float: that is "unknown", not an error.
    return math.inf if value > 700.0 else math.exp(value)  # noqa: PLR2004 - exp(709.8) overflows


def _t_ends(values: Sequence[float]) -> tuple[float, float]:
    center = fmean(values)
    half = _T[len(values)] * stdev(values) / math.sqrt(len(values)) * _inflation(values, center)
    return center - half, center + half


def _rank_ends(values: Sequence[float]) -> tuple[float, float]:
    means = sorted(
        (first + second) / 2.0
        for position, first in enumerate(values)
        for second in values[position:]
    )
    center = median(means)
    inside = _rank_critical(len(values))
    factor = _inflation(values, center)
    low = center - factor * (center - means[inside])
    high = center + factor * (means[-1 - inside] - center)
    return low, high


def _rank_critical(count: int) -> int:
    """The largest k for which the signed-rank statistic of ``count`` pairs is <= k at ``LEVEL``."""
    return _rank_criticals()[count]


@lru_cache(maxsize=1)
def _rank_criticals() -> tuple[int, ...]:
    """For 0 to ``MOST_PAIRS`` pairs; -1 where not even the smallest statistic is rare enough."""
    # chances[s] = chance that a random subset of the ranks so far sums to s
    chances, criticals = [1.0], [-1]
    for rank in range(1, MOST_PAIRS + 1):
        without = chances + [0.0] * rank
        with_rank = [0.0] * rank + chances
        chances = [(one + other) / 2.0 for one, other in zip(without, with_rank, strict=True)]
        criticals.append(sum(total <= LEVEL for total in accumulate(chances)) - 1)
    return tuple(criticals)


def _inflation(values: Sequence[float], center: float) -> float:
    """How much wider the interval must be since neighbouring pairs resemble each other.

    The correlation of neighbours is estimated on clipped values (an outlier must not hide it),
    freed of its bias towards negative values, and raised by half a standard error: an estimate from
    a dozen pairs is poor, and too narrow an interval costs more than too wide a one.
    """
    count = len(values)
    if count < 6:  # noqa: PLR2004 - the estimate would be nothing but noise
        return 1.0
    spread = 1.4826 * median(abs(value - center) for value in values)
    if spread == 0.0:
        return 1.0
    clipped = [min(max((value - center) / spread, -2.0), 2.0) for value in values]
    power = sum(value * value for value in clipped)
    neighbours = sum(first * second for first, second in pairwise(clipped))
    raw = neighbours / power
    correlation = (raw + 1.0 / count) / (1.0 - 4.0 / count) + 0.5 / math.sqrt(count)
    # A dozen pairs that look wholly alike are mostly chance, hence the bound that grows.
    correlation = min(max(correlation, 0.0), 0.9, count / 24.0)
    return math.sqrt((1.0 + correlation) / (1.0 - correlation))
