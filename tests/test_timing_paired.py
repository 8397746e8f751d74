"""From wall times a turn to a speedup, with the protocol's own cost subtracted."""

# ruff: noqa: S311 - seeded noise, no secret
from __future__ import annotations

import random

import pytest

from pytest_kernelbench.timing.paired import CPU_LEAST_OF_NULL, Net, net_times, speedup


def net(times_us: list[float], null_us: float = 0.0, error_us: float = 0.0) -> Net:
    return Net(tuple(times_us), null_us, error_us, sorted(times_us)[len(times_us) // 2])


def test_the_null_is_subtracted_from_each_turn() -> None:
    found = net_times([110.0, 120.0, 130.0], [9.0, 10.0, 11.0, 10.0, 10.0])
    assert found.times_us == (100.0, 110.0, 120.0)
    assert found.null_us == 10.0
    assert found.median_us == 110.0


def test_a_turn_below_the_null_stays_a_turn() -> None:
    found = net_times([9.0, 12.0, 13.0], [10.0])
    assert found.times_us[0] == pytest.approx(1e-3)
    assert found.median_us == pytest.approx(2.0)


@pytest.mark.parametrize(("total", "null"), [([], [1.0]), ([1.0], [])])
def test_turns_of_both_are_needed(total: list[float], null: list[float]) -> None:
    with pytest.raises(ValueError, match="turns of both"):
        net_times(total, null)


@pytest.mark.parametrize(
    ("total_us", "least", "refused"),
    [
        (130.0, CPU_LEAST_OF_NULL, False),
        (119.0, CPU_LEAST_OF_NULL, True),
        (120.0, CPU_LEAST_OF_NULL, True),
        (101.0, 0.0, False),
        (100.0, 0.0, True),
        (90.0, 0.0, True),
    ],
)
def test_too_short_a_time_is_refused(total_us: float, least: float, *, refused: bool) -> None:
    sentence = net_times([total_us] * 4, [100.0] * 4).refusal(least)
    assert bool(sentence) is refused
    if refused:
        assert "too short to be timed" in sentence
        assert "100 us" in sentence
        assert "larger size" in sentence


def test_nothing_is_left_of_less_than_the_protocol() -> None:
    sentence = net_times([10.0] * 4, [191.0] * 4).refusal(CPU_LEAST_OF_NULL)
    assert "nothing is left after subtracting the protocol's own 191 us per call" in sentence
    assert "-181" not in sentence
    some = net_times([195.0] * 4, [191.0] * 4).refusal(CPU_LEAST_OF_NULL)
    assert "4 us per call are left after subtracting" in some


def test_an_uncertain_null_is_told_by_its_spread() -> None:
    calm = net_times([100.0], [10.0] * 9)
    shaky = net_times([100.0], [8.0, 12.0, 9.0, 11.0, 10.0, 10.5, 9.5, 8.5, 11.5])
    few = net_times([100.0], [9.0, 11.0])
    assert calm.null_error_us == 0.0
    assert 0.5 < shaky.null_error_us < 3.0
    assert few.null_error_us == 2.0


def test_speedup_is_baseline_over_solution() -> None:
    found = speedup(net([300.0] * 12), net([200.0] * 12))
    assert found.center == pytest.approx(1.5)
    assert found.above(1.49)
    assert found.below(1.51)


def test_a_clock_that_jumps_for_both_sides_does_not_move_the_speedup() -> None:
    """The ratio of the two medians would be 1.1 here."""
    baseline = [100.0, 100.0, 110.0, 110.0, 110.0, 100.0, 110.0, 110.0, 100.0, 110.0, 110.0]
    solution = [time / 1.25 for time in baseline]
    solution[2] = 100.0 / 1.25
    solution[3] = 100.0 / 1.25
    found = speedup(net(baseline), net(solution))
    assert found.center == pytest.approx(1.25)


def test_an_uncertain_null_widens_the_interval_of_short_kernels_most() -> None:
    short = speedup(net([10.0] * 12, 5.0, 0.5), net([10.0] * 12, 5.0, 0.5))
    long = speedup(net([1000.0] * 12, 5.0, 0.5), net([1000.0] * 12, 5.0, 0.5))
    assert short.width == pytest.approx(2 * 0.05 * 2**0.5, rel=0.1)
    assert long.width < 0.003


def test_a_last_turn_without_partner_is_left_out() -> None:
    assert speedup(net([2.0, 2.0, 9.0]), net([1.0, 1.0])).center == pytest.approx(2.0)


def test_three_percent_is_told_from_nothing() -> None:
    source = random.Random(11)
    baseline = [100.0 * (1.0 + source.gauss(0.0, 0.003)) for _ in range(12)]
    solution = [100.0 / 1.03 * (1.0 + source.gauss(0.0, 0.003)) for _ in range(12)]
    found = speedup(net(baseline), net(solution))
    assert found.above(1.0)
    assert found.below(1.05)
