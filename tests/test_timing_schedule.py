"""Who has a turn when, and how many calls a batch holds."""

from __future__ import annotations

from itertools import islice

import pytest

from pytest_kernelbench.timing.schedule import BatchBounds, calls_of_batch, rounds


def test_two_sides_alternate_as_abba() -> None:
    order = "".join("".join(turns) for turns in islice(rounds("A", "B"), 8))
    assert order == "ABBABAABBAABABBA"


@pytest.mark.parametrize(("power", "length"), [(1, 2), (2, 4)])
def test_a_drift_cancels(power: int, length: int) -> None:
    """A steady one within each two rounds, a bending one within each four."""
    turns = [side for turn in islice(rounds("A", "B"), 32) for side in turn]
    for start in range(0, 64, 2 * length):
        window = enumerate(turns[start : start + 2 * length], start=start)
        balance = sum((1 if side == "A" else -1) * time**power for time, side in window)
        assert balance == 0


@pytest.mark.parametrize(
    ("call_us", "null_us", "memory_bytes", "calls"),
    [
        pytest.param(100.0, 50.0, 1 << 20, 200, id="long enough"),
        pytest.param(7.0, 75.0, 8 << 20, 1000, id="most calls"),
        pytest.param(100.0, 110.0, 128 << 20, 64, id="memory"),
        pytest.param(500.0, 1000.0, 2 << 30, 4, id="memory, long calls"),
        pytest.param(10_000.0, 60_000.0, 1 << 20, 1, id="budget"),
        pytest.param(5e6, 0.0, 64 << 30, 1, id="not even one fits"),
    ],
)
def test_the_tightest_bound_decides(
    call_us: float, null_us: float, memory_bytes: int, calls: int
) -> None:
    assert calls_of_batch(call_us, null_us, memory_bytes, BatchBounds()) == calls


def test_the_budget_holds_the_least_pairs() -> None:
    bounds = BatchBounds(length_us=1e9, budget_us=1e6, least_pairs=5)
    assert calls_of_batch(900.0, 100.0, 0, bounds) == 100  # 2 * 5 * 100 calls of 1 ms are 1 s


@pytest.mark.parametrize("bad", [(0.0, 0.0, 0), (1.0, -1.0, 0), (1.0, 0.0, -1)])
def test_nonsense_is_refused(bad: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="positive time per call"):
        calls_of_batch(*bad, BatchBounds())
