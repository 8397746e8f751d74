"""Solution against baseline, in turns, until what was asked is decided."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from pytest_kernelbench.timing.interval import RANK_PAIRS
from pytest_kernelbench.timing.schedule import rounds
from pytest_kernelbench.timing.stopping import Look, Rules, Stopping
from pytest_kernelbench.verdict import Measurement

if TYPE_CHECKING:
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.timing.device_state import Snapshot
    from pytest_kernelbench.timing.floor import Floor
    from pytest_kernelbench.timing.paired import Net
    from pytest_kernelbench.timing.stopping import Apart

_WARM_UP_S = 0.2
_WARM_UP_PAIRS = 2
_NULLS_FIRST = 6
_MOST_SPOILED = 12
_WALL_SHARE, _WALL_SHARE_OF_FEW = 0.2, 0.04
"""Of the wall time, that counts as spent at least: on a busy host a turn's preparation takes many
times what it measures. A smaller share before ``RANK_PAIRS``: the interval is wide until then.
"""
_AGREE_SHARE, _AGREE_US = 0.10, 5.0
"""Device events and the outside clock must agree within this share and this time."""


class Track(Protocol):
    """What can be raced on: pairs of turns, and the cost of the protocol itself."""

    least_of_null: float
    """The smallest share of the protocol's cost that a time must have to be told from its noise."""
    apart: Apart
    """How far two processes that run the same program were seen apart, whatever the turns say."""
    spoiled: tuple[str, ...]
    """What disturbed the device during the last pair."""
    state: Snapshot | None

    def against(self, baseline: str) -> None:
        """Set up this baseline, and null turns."""

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        """``(baseline_us, contender_us)`` per call."""

    def null(self) -> tuple[float, float]:
        """Microseconds per call of the protocol around nothing, as either side runs it."""

    def evidence(self) -> float | None:
        """Median of device events around the solution's forward, where there are such."""

    def remarks(self) -> list[str]:
        """What a reader should know beside the time."""

    def doubt(self) -> str:
        """Why nothing may be concluded from the times; empty if it may."""

    def neighbours(self) -> int:
        """How many processes that are not the judge's are on the device."""

    @property
    def calls(self) -> int:
        """Calls of one turn."""


class TooShort(Exception):  # noqa: N818 - an outcome, no error
    """The time cannot be told from the protocol's own cost: says of whom, by how much."""


def race(
    track: Track,
    settings: Settings,
    baseline: str,
    floor: Floor | None = None,
    rules: Rules | None = None,
) -> Measurement:
    """Time both sides in turns (ABBA) until every threshold is decided or the budget is spent.

    ``rules`` are the settings' own where none are given. Raises ``TooShort`` where there is nothing
    to tell from the protocol's noise. Where device events speak of another time than the outside
    clock, all is measured once more and marked.
    """
    rules = rules or Rules(settings.to_decide, settings.budget_s)
    track.against(baseline)
    _warm_up(track)
    notes: list[str] = []
    spoiled: list[str] = []
    stopping, look = _run(track, rules, spoiled)
    events_us = track.evidence()
    if _contradicts(events_us, stopping.solution.median_us) and not track.remarks():
        stopping, look = _run(track, rules, spoiled)
        events_us = track.evidence()
        notes.append("measured twice: device events and the outside clock did not agree")
        if _contradicts(events_us, stopping.solution.median_us):
            notes.append(f"they still do not: events say {events_us:.4g} us")
    if spoiled:
        reasons = ", ".join(sorted(set(spoiled)))
        notes.append(f"{len(spoiled)} disturbed turns measured again ({reasons})")
    if others := track.neighbours():
        notes.append(f"{others} other processes were on the device")
    return _measurement(
        track, stopping, look, baseline, floor, [*notes, *track.remarks()], events_us
    )


def _run(track: Track, rules: Rules, spoiled: list[str]) -> tuple[Stopping, Look]:
    """Notes in ``spoiled`` what made it measure a turn again; no more than so many in all."""
    stopping = Stopping(rules, track.apart)
    for _ in range(_NULLS_FIRST):
        stopping.add_null(*track.null())
    spent_s, start = 0.0, time.monotonic()
    for first, _ in rounds("baseline", "contender"):
        while True:
            baseline_us, ours_us = track.pair(contender_first=first == "contender")
            spent_s += (baseline_us + ours_us) * track.calls / 1e6
            if not track.spoiled or len(spoiled) >= _MOST_SPOILED:
                break
            spoiled.append(" and ".join(track.spoiled))
        stopping.add_null(*track.null())
        share = _WALL_SHARE if stopping.pairs >= RANK_PAIRS else _WALL_SHARE_OF_FEW
        wall_s = time.monotonic() - start
        look = stopping.add(baseline_us, ours_us, max(spent_s, share * wall_s))
        if look.stop is not None:
            break
    return stopping, look


def _measurement(  # noqa: PLR0913, PLR0917 - all that was found out
    track: Track,
    stopping: Stopping,
    look: Look,
    baseline: str,
    floor: Floor | None,
    notes: list[str],
    events_us: float | None,
) -> Measurement:
    theirs, ours = stopping.baseline, stopping.solution
    assert look.interval is not None
    for who, net in (("the baseline", theirs), ("the solution", ours)):
        if refusal := net.refusal(track.least_of_null):
            raise TooShort(f"{who} is {refusal}")
    interval = look.interval
    limit = _not_disproved(floor, theirs)
    refusals = _refusals(track, limit, ours)
    stopped = [f"stopped: {look.stop.value}"] if look.stop is not None else []
    return Measurement(
        baseline=baseline,
        speedup=interval.center,
        low=0.0 if refusals else interval.low,
        high=interval.high,
        baseline_us=theirs.median_us,
        time_us=ours.median_us,
        null_us=ours.null_us,
        turns=look.pairs,
        calls=look.pairs * track.calls,
        times_us=ours.times_us,
        baseline_times_us=theirs.times_us,
        events_us=events_us,
        floor_us=limit.floor_us if limit else None,
        percent_of_roof=floor.percent_of_roof(ours.median_us)
        if floor and ours.median_us > 0
        else None,
        clock_mhz=track.state.sm_clock_mhz if track.state else None,
        temperature_c=track.state.temperature_c if track.state else None,
        notes=(*refusals, *notes, *stopped),
    )


def _refusals(track: Track, limit: Floor | None, ours: Net) -> list[str]:
    """Why nothing counts as faster, whatever the turns say."""
    impossible = limit.refusal(ours.median_us, ours.null_error_us) if limit else ""
    return [why for why in (impossible, track.doubt()) if why]


def _not_disproved(floor: Floor | None, baseline: Net) -> Floor | None:
    """A gather or a slice reads less than the floor has it; then there is none to go by."""
    return None if floor is None or floor.impossible(baseline.median_us) else floor


def _contradicts(events_us: float | None, time_us: float) -> bool:
    if events_us is None:
        return False
    return abs(events_us - time_us) > _AGREE_SHARE * max(events_us, time_us) + _AGREE_US


def _warm_up(track: Track) -> None:
    start = time.monotonic()
    done = 0
    while done < _WARM_UP_PAIRS or time.monotonic() - start < _WARM_UP_S:
        track.pair(contender_first=bool(done % 2))
        done += 1
