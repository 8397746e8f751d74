"""From what the referee's clock said, turn by turn, to a speedup.

Turn i of one side and turn i of the other were measured next to each other, so whatever drifts
(clocks, heat, neighbours) hits both; the ratio of the two is compared, never two averages of a
whole session. The speedup is the median of these paired ratios. (The ratio of the two sides'
medians is as good on a steady machine and ten times worse where the clock jumps between two
levels: with jumps of 10 %, an error of 3 % against 0.2 % after twelve pairs.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_kernelbench.timing.interval import Interval, from_log_ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

CPU_LEAST_OF_NULL = 0.2
"""On the CPU the protocol (messages, mapping inputs, stopping all threads) can cost many times what
a short program does."""
_LEAST_US = 1e-3
_ROBUST_COUNT = 4


@dataclass(frozen=True)
class Net:
    """One side's times per call, the protocol's own cost subtracted."""

    times_us: tuple[float, ...]
    """One figure a turn, in the order of the turns; positive (a turn below zero counts as 1 ns)."""
    null_us: float
    """What was subtracted: the median cost per call of the protocol around an empty forward."""
    null_error_us: float
    """Uncertainty of ``null_us`` at two standard errors."""
    median_us: float
    """Median of the turns before any was lifted to 1 ns: may be zero or less."""

    def refusal(self, least_of_null: float) -> str:
        """Why this time must not be scored, as a sentence; empty when it may.

        ``least_of_null`` is the smallest share of the protocol's own cost that can be told from
        its noise (``CPU_LEAST_OF_NULL``); 0 refuses only what does not exceed the null at all.
        """
        if self.median_us > max(least_of_null * self.null_us, 0.0):
            return ""
        left = f"{self.median_us:.3g} us per call are" if self.median_us > 0.0 else "nothing is"
        return (
            f"too short to be timed: {left} left after subtracting "
            f"the protocol's own {self.null_us:.3g} us per call, and at least "
            f"{least_of_null * self.null_us:.3g} us are needed to tell them from noise; "
            "judge it at a larger size"
        )


def net_times(total_us: Sequence[float], null_us: Sequence[float]) -> Net:
    """Subtract the protocol's own cost.

    ``total_us``: wall time per call (batch time over calls), one a turn. ``null_us``: the same for
    an empty forward in the same kind of process, as many turns as there were. Both in microseconds.
    """
    if not total_us or not null_us:
        message = f"net times need turns of both: {len(total_us)} timed, {len(null_us)} null"
        raise ValueError(message)
    null = median(null_us)
    left = [total - null for total in total_us]
    return Net(
        times_us=tuple(max(time, _LEAST_US) for time in left),
        null_us=null,
        null_error_us=median_error(null_us),
        median_us=median(left),
    )


def speedup(baseline: Net, solution: Net) -> Interval:
    """How many times as fast as the baseline the solution is, with its 95 % interval.

    Turn i of both belongs together; when one side had a turn more, that turn is left out. The
    interval covers the noise of the turns, the looks taken on the way (see ``interval``), and the
    uncertainty of what was subtracted on either side.
    """
    log_ratios = [
        math.log(theirs / ours)
        for theirs, ours in zip(baseline.times_us, solution.times_us, strict=False)
    ]
    extra = math.hypot(
        *(side.null_error_us / median(side.times_us) for side in (baseline, solution))
    )
    return from_log_ratios(log_ratios, extra)


def median_error(values: Sequence[float]) -> float:
    """Two standard errors of the median; the whole range where there are too few values."""
    if len(values) < _ROBUST_COUNT:
        return max(values) - min(values)
    center = median(values)
    deviation = 1.4826 * median(abs(value - center) for value in values)
    return 2.0 * 1.2533 * deviation / math.sqrt(len(values))
