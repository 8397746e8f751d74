"""Who is timed when, and how many calls a batch has: both fixed before the solution is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CALLS = 1000


def rounds(first: str, second: str) -> Iterator[tuple[str, str]]:
    """Without end: the order in which two sides take their turn, one round after the other.

    AB BA, BA AB, BA AB, AB BA, ...: each two rounds (ABBA) cancel a drift that is steady, each four
    one that bends (the order of the rounds is the Thue-Morse sequence).
    """
    for number in count():
        yield (second, first) if number.bit_count() % 2 else (first, second)


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


def calls_of_batch(
    call_us: float, null_us: float, memory_per_call_bytes: int, bounds: BatchBounds
) -> int:
    """How many calls are timed as one: by the *baseline's* time, never by the solution's.

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
    long_enough = -(-bounds.length_us // call_us)
    kept = bounds.memory_bytes // max(memory_per_call_bytes, 1)
    paid = bounds.budget_us // (2 * bounds.least_pairs * each_us)
    return max(int(min(long_enough, kept, paid, bounds.most_calls)), 1)
