"""The interval holds the truth, also when looked at after every ABBA, in ugly noise."""

# ruff: noqa: S311 - seeded noise, no secret
from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import NormalDist, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kernelbench.timing import interval as interval_module
from pytest_kernelbench.timing.interval import (
    LEVEL,
    MOST_PAIRS,
    RESOLUTION,
    STRICT_LEVEL,
    Interval,
    from_log_ratios,
)

Noise = Callable[[random.Random, int], list[float]]


def white(source: random.Random, turns: int) -> list[float]:
    return [source.gauss(0.0, 0.01) for _ in range(turns)]


def heavy(source: random.Random, turns: int) -> list[float]:
    """Student's t with two degrees of freedom: no variance."""
    return [0.003 * source.gauss(0, 1) / math.sqrt(source.expovariate(1.0)) for _ in range(turns)]


def spikes(source: random.Random, turns: int) -> list[float]:
    """One turn in ten is hit by an interruption of tens of percent."""
    return [
        source.gauss(0.0, 0.003)
        + (math.log1p(source.expovariate(3.0)) if source.random() < 0.1 else 0.0)
        for _ in range(turns)
    ]


def two_clocks(source: random.Random, turns: int) -> list[float]:
    """The clock jumps between two levels 10 % apart and stays there a while."""
    level, values = 0, []
    for _ in range(turns):
        level ^= source.random() < 0.15
        values.append(source.gauss(0.0, 0.003) + 0.1 * level)
    return values


def drift(source: random.Random, turns: int) -> list[float]:
    """Each turn is 0.2 % slower than the one before."""
    return [source.gauss(0.0, 0.003) + 0.002 * turn for turn in range(turns)]


def lingering(source: random.Random, turns: int) -> list[float]:
    """The device's noise is nearly the same a turn later."""
    value, values = source.gauss(0.0, 1.0), []
    for _ in range(turns):
        value = 0.8 * value + 0.6 * source.gauss(0.0, 1.0)
        values.append(0.01 * value)
    return values


def abba(times: list[float]) -> list[float]:
    """Log ratios of turns taken AB BA AB BA from one stream of noise."""
    ratios = [first - second for first, second in zip(times[::2], times[1::2], strict=True)]
    return [ratio if number % 2 == 0 else -ratio for number, ratio in enumerate(ratios)]


@pytest.mark.parametrize("noise", [white, heavy, spikes, two_clocks, drift, lingering])
def test_truth_is_outside_at_any_look_in_at_most_five_percent(noise: Noise) -> None:
    source = random.Random(20261129)
    runs, truth = 250, 0.03
    wrong = 0
    for _ in range(runs):
        ratios = [truth + ratio for ratio in abba(noise(source, 2 * 30))]
        wrong += any(
            not _holds(from_log_ratios(ratios[:pairs]), truth) for pairs in range(4, 31, 2)
        )
    assert wrong / runs <= 0.05


def test_sides_whose_noise_lingers_get_a_wider_interval() -> None:
    """Each side's own noise resembles itself from turn to turn: pairs are not independent."""
    source = random.Random(5)
    runs, wrong = 250, 0
    for _ in range(runs):
        sides = [_ar1(source, 0.3, 40), _ar1(source, 0.3, 40)]
        ratios = [0.02 * (one - other) for one, other in zip(*sides, strict=True)]
        wrong += any(not _holds(from_log_ratios(ratios[:pairs]), 0.0) for pairs in range(4, 41, 2))
    # 2.4 %; without widening for likeness 9.2 %.
    assert wrong / runs <= 0.05


def test_three_tenths_of_a_percent_of_noise_is_known_to_one_percent_after_twelve_pairs() -> None:
    source = random.Random(7)
    halves = []
    for _ in range(200):
        turns = [source.gauss(0.0, 0.003) for _ in range(24)]
        found = from_log_ratios(abba(turns))
        halves.append((found.high - found.low) / 2.0)
    assert median(halves) <= 0.006
    assert sorted(halves)[190] <= 0.01


def test_outliers_hardly_widen_the_interval() -> None:
    calm = [0.002 * NormalDist().inv_cdf((i + 0.5) / 24) for i in range(24)]
    random.Random(1).shuffle(calm)
    hit = [*calm[:5], 0.4, *calm[6:15], -0.3, *calm[16:]]
    assert from_log_ratios(hit).width < 2.0 * from_log_ratios(calm).width


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=24))
def test_ends_enclose_the_center(ratios: list[float]) -> None:
    found = from_log_ratios(ratios)
    assert found.low <= found.center <= found.high
    assert found.center == pytest.approx(math.exp(median(ratios)))


@given(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=20))
def test_swapping_the_sides_mirrors_the_interval(ratios: list[float]) -> None:
    there, back = from_log_ratios(ratios), from_log_ratios([-ratio for ratio in ratios])
    assert there.low == pytest.approx(1.0 / back.high, rel=1e-6)
    assert there.high == pytest.approx(1.0 / back.low, rel=1e-6)


def test_equal_turns_of_a_coarse_clock_do_not_prove_a_speedup() -> None:
    found = from_log_ratios([0.0003] * 8)
    assert not found.above(1.0)
    assert found.high / found.center == pytest.approx(math.exp(RESOLUTION))


def test_one_pair_says_nothing_about_its_error() -> None:
    found = from_log_ratios([0.7])
    assert (found.low, found.high) == (0.0, math.inf)
    assert found.width == math.inf


def test_a_shared_error_joins_in_quadrature() -> None:
    ratios = [0.0] * 12
    found = from_log_ratios(ratios, extra=0.02)
    assert math.log(found.high) == pytest.approx(math.hypot(0.02, RESOLUTION))


@pytest.mark.parametrize("ratios", [[], [0.1, math.nan], [math.inf, 0.0]])
def test_what_is_no_number_is_refused(ratios: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        from_log_ratios(ratios)


def test_thresholds_are_decided_strictly() -> None:
    found = Interval(1.2, 1.1, 1.3)
    assert found.above(1.09)
    assert not found.above(1.1)
    assert found.below(1.31)
    assert not found.below(1.3)
    assert [found.decides(p) for p in (1.0, 1.1, 1.2, 1.3, 1.5)] == [
        True,
        False,
        False,
        False,
        True,
    ]


def test_an_error_that_turns_do_not_show_joins_in_quadrature() -> None:
    found = Interval(2.0, 2.0 * math.exp(-0.03), 2.0 * math.exp(0.03)).widened(math.expm1(0.04))
    assert found.low == pytest.approx(2.0 * math.exp(-0.05))
    assert found.high == pytest.approx(2.0 * math.exp(0.05))
    same = Interval(1.0, 0.99, 1.01)
    assert same.widened(0.0).low == pytest.approx(same.low)
    with pytest.raises(ValueError, match="at least 0"):
        found.widened(-0.1)


@pytest.mark.parametrize(("low", "high"), [(0.0, math.inf), (1.0, 1.0)])
def test_what_is_unknown_stays_unknown_and_nothing_is_known_exactly(
    low: float, high: float
) -> None:
    found = Interval(1.0, low, high).widened(0.02)
    assert found.low == pytest.approx(min(low, 1 / 1.02))
    assert found.high == pytest.approx(max(high, 1.02))


@pytest.mark.parametrize("count", [10, 11, 12])
def test_rank_bound_is_the_largest_within_its_level(count: int) -> None:
    """Against plain enumeration of all signs."""
    sums = sorted(
        sum(rank + 1 for rank in range(count) if signs >> rank & 1) for signs in range(2**count)
    )
    bound = interval_module._rank_critical(count)
    at_most = [sum(total <= k for total in sums) / 2**count for k in (bound, bound + 1)]
    assert at_most[0] <= LEVEL < at_most[1]


@pytest.mark.parametrize("pairs", [2, 3, 5, 9])
def test_t_table_leaves_its_level_beyond_each_side(pairs: int) -> None:
    freedom, bound = pairs - 1, interval_module._T[pairs]
    scale = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi) / math.gamma(freedom / 2)
    # With t = bound / u the tail becomes an integral over (0, 1]; Simpson's rule suffices.
    steps = 2000
    total = 0.0
    for step in range(1, steps + 1):
        u = step / steps
        value = (1 + (bound / u) ** 2 / freedom) ** (-(freedom + 1) / 2) * bound / u**2
        total += value * (1 if step == steps else 4 if step % 2 else 2)
    # The integrand at 0 is 0 for more than one degree of freedom, else freedom / bound.
    total += freedom / bound if freedom == 1 else 0.0
    assert scale * total / (3 * steps) == pytest.approx(STRICT_LEVEL, rel=1e-3)


def test_the_largest_measurement_is_affordable() -> None:
    """The referee looks after each ABBA; ranks of the longest run are still a handful of ms."""
    source = random.Random(3)
    ratios = white(source, MOST_PAIRS)
    started_s = time.thread_time()  # whatever else the machine does
    found = from_log_ratios(ratios)
    assert time.thread_time() - started_s < 2.0  # about 0.1 s; enumerating ranks took 2 s
    assert 0.0 < found.width < 0.02


def _holds(found: Interval, log_truth: float) -> bool:
    return math.log(found.low) <= log_truth <= math.log(found.high)


def _ar1(source: random.Random, correlation: float, count: int) -> list[float]:
    values = [source.gauss(0.0, 1.0)]
    step = math.sqrt(1.0 - correlation**2)
    for _ in range(count - 1):
        values.append(correlation * values[-1] + step * source.gauss(0.0, 1.0))
    assert all(one != other for one, other in pairwise(values))
    return values
