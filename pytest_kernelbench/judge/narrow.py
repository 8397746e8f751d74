"""Claims that are won by little: measured again in new processes, and the humbler figure counts.

Two processes that run one program can differ by two percent, the same in each turn, by where the
driver has put code and memory (on an H200 one process of six of a product of 61 us). No number of
turns in the same processes tells that from a speedup; other processes do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.verdict import Measurement

_MARGIN = 0.04
"""Above the largest difference that was seen between processes of one program."""


def is_narrow(measured: Measurement, thresholds: Iterable[float]) -> bool:
    """Whether a threshold lies below the interval, but not far below."""
    return any(limit < measured.low <= limit * (1 + _MARGIN) for limit in thresholds)


def humbler(first: Measurement, again: Measurement) -> Measurement:
    """The one that claims less, with a note on the other."""
    less, more = sorted((first, again), key=lambda measured: measured.low)
    note = (
        f"measured in two pairs of processes, since it was won by little: the other one said "
        f"{more.speedup:.3f}x ({more.low:.3f} to {more.high:.3f})"
    )
    return replace(less, notes=(*less.notes, note))


def unconfirmed(first: Measurement, why: str) -> Measurement:
    """A claim that could not be measured again, and so is none."""
    return replace(first, low=0.0, notes=(*first.notes, f"not confirmed in new processes: {why}"))
