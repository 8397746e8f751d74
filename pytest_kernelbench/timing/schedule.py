"""Who is timed when, and how many calls a batch has: both fixed before the solution is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_CALLS = 1000


def rounds(sides: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Without end: the order in which the sides take their turn, one round after the other.

    For two sides AB BA, BA AB, BA AB, AB BA, ...: each two rounds (ABBA) cancel a drift that is
    steady, each four one that bends (the order of the rounds is the Thue-Morse sequence). More
    sides (two baselines, the null) go forwards and backwards in the same manner.
    """
    number = 0
    while True:
        backwards = number.bit_count() % 2
        yield tuple(reversed(sides)) if backwards else tuple(sides)
        number += 1


@dataclass(frozen=True)
class Batch:
    """How many calls are timed as one, and what decided it."""

    calls: int
    bound: str
    """``length`` (long enough for the clock), ``memory``, ``budget`` or ``calls`` (the most)."""
    time_us: float
    """What one batch of the baseline is expected to take."""


@dataclass(frozen=True)
class BatchBounds:
    """What a batch may cost. The defaults are for an outside clock that errs by some 30 us."""

    length_us: float = 20_000.0
    """A batch this long makes the clock's own error negligible (30 us of 20 ms: 0.15 %)."""
    memory_bytes: int = 8 << 30
    """For the inputs and outputs that must all be kept until the referee named what to reveal."""
    budget_us: float = 2_000_000.0
    """Of timing, for both sides together."""
    least_pairs: int = 8
    """So many pairs of batches must fit into the budget."""
    most_calls: int = MOST_CALLS


def plan_batch(
    call_us: float, null_us: float, memory_per_call_bytes: int, bounds: BatchBounds
) -> Batch:
    """Choose the number of calls from the *baseline's* time, never from the solution's.

    ``call_us``: net time of one baseline call; ``null_us``: the protocol's own time per call. A
    solution that could influence this number would slow its warm-up down to be timed only once.
    At least one call, whatever the bounds say.
    """
    if call_us <= 0.0 or null_us < 0.0 or memory_per_call_bytes < 0:
        message = (
            "a batch is planned from a positive time per call and no negative cost, not from "
            f"{call_us} us, null {null_us} us, {memory_per_call_bytes} bytes"
        )
        raise ValueError(message)
    each_us = call_us + null_us
    # The net part must be long enough by itself: the null is subtracted and proves nothing.
    wanted = {
        "length": -(-bounds.length_us // call_us),
        "memory": bounds.memory_bytes // max(memory_per_call_bytes, 1),
        "budget": bounds.budget_us // (2 * bounds.least_pairs * each_us),
        "calls": bounds.most_calls,
    }
    bound = min(wanted, key=lambda name: wanted[name])
    calls = max(int(wanted[bound]), 1)
    return Batch(calls, bound, calls * each_us)
