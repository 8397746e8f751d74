"""Solution against baseline, in turns, until what was asked is decided."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from pytest_kernelbench.timing.stopping import Rules, Stopping
from pytest_kernelbench.verdict import Measurement

if TYPE_CHECKING:
    from pytest_kernelbench.settings import Settings

_WARM_UP_S = 0.2
_WARM_UP_PAIRS = 2
_NULLS_FIRST = 8


class Track(Protocol):
    """What can be raced on: a pair of turns, and the cost of the protocol itself."""

    def outline(self) -> None:
        """Prepare null turns."""

    def pair(self, *, contender_first: bool) -> tuple[float, float]:
        """``(baseline_us, contender_us)`` per call."""

    def null(self) -> tuple[float, float]:
        """Microseconds per call of the protocol around nothing, as the baseline and as the solution runs it."""

    def evidence(self) -> float | None:
        """Median of device events around the solution's forward, where there are such."""

    least_of_null: float
    """The smallest share of the protocol's cost that a time must have to be told from its noise."""

    @property
    def calls(self) -> int:
        """Calls of one turn."""


def race(track: Track, settings: Settings, baseline: str = "eager") -> Measurement:
    """Time both sides in turns (ABBA) until every threshold is decided or the budget is spent."""
    track.outline()
    _warm_up(track)
    rules = Rules(thresholds=settings.thresholds or (1.0,), budget_s=settings.budget_s)
    stopping = Stopping(rules)
    for _ in range(_NULLS_FIRST):
        stopping.add_null(*track.null())
    spent_s = 0.0
    number = 0
    while True:
        first = bin(number).count("1") % 2 == 1
        baseline_us, ours_us = track.pair(contender_first=first)
        stopping.add_null(*track.null())
        spent_s += (baseline_us + ours_us) / 1e6
        look = stopping.add(baseline_us, ours_us, spent_s)
        number += 1
        if look.stop is not None and look.interval is not None:
            break
    theirs, ours, interval = stopping.baseline, stopping.solution, look.interval
    refusals = {
        f"{who}: {refusal}"
        for who, net in (("baseline", theirs), ("solution", ours))
        if (refusal := net.refusal(track.least_of_null))
    }
    low, high = (0.0, 0.0) if refusals else (interval.low, interval.high)
    return Measurement(
        baseline=baseline,
        speedup=interval.center,
        low=low,
        high=high,
        baseline_us=theirs.median_us,
        time_us=ours.median_us,
        null_us=ours.null_us,
        turns=number,
        calls=number * track.calls,
        times_us=ours.times_us,
        baseline_times_us=theirs.times_us,
        events_us=track.evidence(),
        notes=(*sorted(refusals), f"stopped: {look.stop.value}"),
    )


def _warm_up(track: Track) -> None:
    start = time.monotonic()
    done = 0
    while done < _WARM_UP_PAIRS or time.monotonic() - start < _WARM_UP_S:
        track.pair(contender_first=bool(done % 2))
        done += 1
