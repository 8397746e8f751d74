"""When to stop measuring: as soon as what was asked is decided, never before, never much later."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pytest_kernelbench.timing.interval import MOST_PAIRS, Interval
from pytest_kernelbench.timing.paired import Net, net_times, speedup

LEAST_PAIRS = 4
"""Fewer give an interval so wide that nothing can be decided by it."""
_PATIENCE = 5.0
"""Budgets that must be spent where fewer than ``Rules.least_pairs`` are to be enough."""


class Reason(str, Enum):
    """Why measuring stopped."""

    DECIDED = "decided"
    """Every threshold lies outside the interval."""
    NARROW = "narrow"
    """The interval is as narrow as asked for."""
    BUDGET = "budget"
    """The time is spent."""
    PAIRS = "pairs"
    """``MOST_PAIRS`` were measured; no later look would be valid."""


@dataclass(frozen=True)
class Rules:
    """What is asked of one measurement."""

    thresholds: tuple[float, ...] = (1.0,)
    """Speedups that must each be decided; the default of the gate is 1."""
    budget_s: float = 2.0
    width: float = 0.02
    """Upper over lower end of the interval, less one, at which it is narrow enough; never where 0.

    It is so, too, where turns say more than the processes do and more of them could decide nothing.
    """
    least_pairs: int = 6
    """Not stopped before, unless five budgets are spent and ``LEAST_PAIRS`` were measured."""
    most_pairs: int = MOST_PAIRS

    def __post_init__(self) -> None:
        """Refuse rules under which the interval would not hold what it promises."""
        if not LEAST_PAIRS <= self.least_pairs <= self.most_pairs <= MOST_PAIRS:
            message = (
                f"pairs must lie between {LEAST_PAIRS} and {MOST_PAIRS}, least before most; "
                f"got {self.least_pairs} and {self.most_pairs}"
            )
            raise ValueError(message)


@dataclass(frozen=True)
class Apart:
    """How far two processes that run one program are apart in every turn alike."""

    share: float = 0.0
    us: float = 0.0

    def of(self, shortest_us: float) -> float:
        """As a fraction of a speedup, by the shorter of its times."""
        if shortest_us <= 0.0:
            return 0.0  # too short to be told from the protocol's cost: refused as such
        return self.share + self.us / shortest_us


@dataclass(frozen=True)
class Look:
    """The state after one more pair."""

    pairs: int
    interval: Interval | None
    """As it is reported. None after an odd number of pairs: half of an ABBA tells drift and speedup
    not apart."""
    stop: Reason | None
    """None: go on."""


_NOT_APART = Apart()


class Stopping:
    """Fed with one pair of turns at a time, says whether to go on. Reads no clock.

    Times are wall times per call (batch time over calls) as the referee measured them, the
    protocol's own cost included; that cost is fed in by ``add_null`` and subtracted from all turns
    at each look. Turns that the device spoiled (throttled, a neighbour) are simply not added, and
    measured again.
    """

    def __init__(self, rules: Rules, apart: Apart = _NOT_APART) -> None:
        """One per solution and baseline; with two baselines the solution's turns go to both."""
        self._rules = rules
        self._apart = apart
        self._baseline_us: list[float] = []
        self._solution_us: list[float] = []
        self._baseline_null_us: list[float] = []
        self._solution_null_us: list[float] = []

    def add_null(self, baseline_us: float, solution_us: float) -> None:
        """A turn of the empty forward on either side; once before any pair."""
        self._baseline_null_us.append(baseline_us)
        self._solution_null_us.append(solution_us)

    def add(self, baseline_us: float, solution_us: float, elapsed_s: float) -> Look:
        """One pair of turns, and the timing time spent so far including this pair."""
        self._baseline_us.append(baseline_us)
        self._solution_us.append(solution_us)
        pairs = len(self._baseline_us)
        # Looks happen only after whole ABBAs: fewer looks, and a steady drift has cancelled.
        if pairs % 2:
            return Look(pairs, None, None)
        theirs, ours = self.baseline, self.solution
        of_turns = speedup(theirs, ours)
        apart = self._apart.of(min(theirs.median_us, ours.median_us))
        interval = of_turns.widened(apart)
        narrow = self._is_narrow(of_turns, apart)
        return Look(pairs, interval, self._reason(pairs, interval, elapsed_s, narrow=narrow))

    def _is_narrow(self, of_turns: Interval, apart: float) -> bool:
        rules = self._rules
        if not rules.width:
            return False
        if of_turns.width < rules.width:
            return True
        if of_turns.width >= 2.0 * apart:
            return False
        center = of_turns.center
        at_best = Interval(center, center, center).widened(apart)
        return not any(map(at_best.decides, rules.thresholds))

    @property
    def pairs(self) -> int:
        """How many were added."""
        return len(self._baseline_us)

    @property
    def baseline(self) -> Net:
        """The baseline's net times so far."""
        return net_times(self._baseline_us, self._baseline_null_us)

    @property
    def solution(self) -> Net:
        """The solution's net times so far."""
        return net_times(self._solution_us, self._solution_null_us)

    def _reason(
        self, pairs: int, interval: Interval, elapsed_s: float, *, narrow: bool
    ) -> Reason | None:
        rules = self._rules
        if pairs < rules.least_pairs:
            late = elapsed_s >= _PATIENCE * rules.budget_s and pairs >= LEAST_PAIRS
            return Reason.BUDGET if late else None
        if rules.thresholds and all(map(interval.decides, rules.thresholds)):
            return Reason.DECIDED
        if narrow:
            return Reason.NARROW
        if elapsed_s >= rules.budget_s:
            return Reason.BUDGET
        # An odd limit is reached one pair before it: looks are at even counts only.
        return Reason.PAIRS if pairs + 2 > rules.most_pairs else None
