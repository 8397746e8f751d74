"""Who has a turn when, and how many calls a batch holds."""

from __future__ import annotations

from itertools import islice

import pytest

from pytest_kernelbench.timing.schedule import BatchBounds, plan_batch, rounds


def test_two_sides_alternate_as_abba() -> None:
    order = "".join("".join(turns) for turns in islice(rounds("AB"), 8))
    assert order == "ABBABAABBAABABBA"


@pytest.mark.parametrize(("power", "length"), [(1, 2), (2, 4)])
def test_a_drift_cancels(power: int, length: int) -> None:
    """A steady one within each two rounds, a bending one within each four."""
    turns = [side for turn in islice(rounds("AB"), 32) for side in turn]
    for start in range(0, 64, 2 * length):
        window = enumerate(turns[start : start + 2 * length], start=start)
        balance = sum((1 if side == "A" else -1) * time**power for time, side in window)
        assert balance == 0


def test_more_sides_go_there_and_back() -> None:
    sides = ("eager", "compile", "solution")
    found = list(islice(rounds(sides), 3))
    assert found == [sides, sides[::-1], sides[::-1]]


@pytest.mark.parametrize(
    ("call_us", "null_us", "memory_bytes", "calls", "bound"),
    [
        (100.0, 50.0, 1 << 20, 200, "length"),
        (7.0, 75.0, 8 << 20, 1000, "calls"),
        (100.0, 110.0, 128 << 20, 64, "memory"),
        (500.0, 1000.0, 2 << 30, 4, "memory"),
        (10_000.0, 60_000.0, 1 << 20, 1, "budget"),
        (5e6, 0.0, 64 << 30, 1, "memory"),
    ],
)
def test_the_tightest_bound_decides(
    call_us: float, null_us: float, memory_bytes: int, calls: int, bound: str
) -> None:
    plan = plan_batch(call_us, null_us, memory_bytes, BatchBounds())
    assert (plan.calls, plan.bound) == (calls, bound)
    assert plan.time_us == pytest.approx(calls * (call_us + null_us))


def test_the_budget_holds_the_least_pairs() -> None:
    bounds = BatchBounds(length_us=1e9, budget_us=1e6, least_pairs=5)
    plan = plan_batch(900.0, 100.0, 0, bounds)
    assert (plan.calls, plan.bound) == (100, "budget")
    assert 2 * 5 * plan.time_us <= 1e6


@pytest.mark.parametrize("bad", [(0.0, 0.0, 0), (1.0, -1.0, 0), (1.0, 0.0, -1)])
def test_nonsense_is_refused(bad: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="positive time per call"):
        plan_batch(*bad, BatchBounds())
