"""What the protocol costs in a process, found out before anybody's code is loaded in it.

Two processes that run the same null calls differ by up to half a microsecond a call, the same in
each turn: by where the driver has put the protocol's code and memory. Subtracting one side's cost
from both makes that a speedup. A contender must not be believed about its own cost, so it is
measured while its process still holds nothing but ours. With memory in several places, as in a
race: in one place that both have by chance, it can be off by a microsecond.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import NoRoomError
from pytest_kernelbench.judge.quiet import can_move, draw, get_ready, lead_in, move
from pytest_kernelbench.judge.station import Station
from pytest_kernelbench.timing.paired import median_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.judge.bench import Bench
    from pytest_kernelbench.judge.runners import Runner

_LONG_US = 1000.0
"""Half a microsecond is nothing beside such a forward; its inputs may be large, though."""
_PLACES = 6
_MOST_SHIFT_US = 3.0
"""Never seen between processes that are left alone; six times what was."""


@dataclass(frozen=True)
class Shift:
    """By how much a call's protocol costs more in one process than in another, microseconds."""

    us: float
    error_us: float
    """At two standard errors."""

    def plus(self, other: Shift) -> Shift:
        """From a first process to a second, and on to a third."""
        return Shift(self.us + other.us, math.hypot(self.error_us, other.error_us))


@dataclass(frozen=True)
class OwnNull:
    """What is known of a process that was started to be raced."""

    station: Station
    anchor: Station
    """The first baseline's, with which it was compared."""
    shift: Shift | None

    def against(self, baseline: Station) -> Shift | None:
        """What its null calls cost more than those of this baseline; None if nobody can tell.

        Nothing of the contender may run now: only trusted processes are asked.
        """
        if self.shift is None or not baseline.runner.trusted:
            return None
        if not baseline.bench.holds(self.anchor):
            return None  # its process was ended for want of memory
        if baseline is self.anchor:
            return self.shift
        further = _difference(self.anchor, baseline)
        self.anchor.release()
        return self.shift.plus(further) if further is not None else None


def measure(bench: Bench, runner: Runner, slot: int) -> OwnNull:
    """Null calls in turns with the first baseline's. ``runner`` has constructed nothing yet.

    So whatever goes wrong is not the solution's doing, and its process is still to be trusted.
    """
    usual, runner.trusted = runner.trusted, True
    try:
        station = Station(bench, runner, slot)
        try:
            anchor = bench.start_station(bench.settings.baselines[0])
            return OwnNull(station, anchor, _shift(station, anchor))
        except BaseException:
            station.close()
            raise
    finally:
        runner.trusted = usual


def _shift(station: Station, anchor: Station) -> Shift | None:
    if station.bench.prepared.forward_us > _LONG_US:
        return None
    try:
        return _difference(station, anchor)
    except NoRoomError:
        return None  # both do not fit at once; the race will see to that


def shift_of(differences_us: Sequence[float]) -> Shift | None:
    """Their median; None where it is absurd: somebody else was on the device."""
    middle = median(differences_us)
    if abs(middle) > _MOST_SHIFT_US:
        return None
    return Shift(middle, median_error(differences_us))


def _difference(first: Station, second: Station) -> Shift | None:
    bench = first.bench
    if not can_move(bench):
        return None  # of one place alone it says little
    number, calls = draw(bench), bench.idle_calls
    differences = []
    for place in range(_PLACES):
        for who in (first, second):
            if place == 0:
                get_ready(who, number)
            else:
                move(who, number)
            who.run(calls, null=True)  # takes memory from the driver
        took = {first: 0.0, second: 0.0}
        for who in (first, second, second, first):
            who.run(1, null=True)
            took[who] += lead_in(who) / 2
        differences.append((took[first] - took[second]) / calls)
    return shift_of(differences)
