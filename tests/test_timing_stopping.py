"""Measuring stops when decided, when narrow, when spent; and a copy is not called fast."""

# ruff: noqa: S311 - seeded noise, no secret
from __future__ import annotations

import math
import random

import pytest

from pytest_kernelbench.timing.interval import MOST_PAIRS
from pytest_kernelbench.timing.stopping import Apart, Look, Reason, Rules, Stopping

PAIR_S = 0.04


def measure(rules: Rules, turns: list[tuple[float, float]], pair_s: float = PAIR_S) -> Look:
    """Feed pairs until told to stop."""
    stopping = Stopping(rules)
    for _ in range(4):
        stopping.add_null(10.0, 10.0)
    for number, (baseline_us, solution_us) in enumerate(turns, start=1):
        look = stopping.add(baseline_us + 10.0, solution_us + 10.0, number * pair_s)
        if look.stop:
            return look
    message = f"went on after {len(turns)} pairs"
    raise AssertionError(message)


def noisy(source: random.Random, speedup: float, noise: float) -> list[tuple[float, float]]:
    return [
        (
            100.0 * math.exp(source.gauss(0.0, noise)),
            100.0 / speedup * math.exp(source.gauss(0.0, noise)),
        )
        for _ in range(MOST_PAIRS)
    ]


@pytest.mark.parametrize(
    ("speedup", "noise", "thresholds", "reason", "most"),
    [
        (2.0, 0.003, (1.0,), Reason.DECIDED, 6),
        (0.5, 0.003, (1.0, 1.5), Reason.DECIDED, 6),
        (1.03, 0.003, (1.0,), Reason.DECIDED, 8),
        (1.0, 0.003, (1.0,), Reason.NARROW, 12),
        (1.5, 0.003, (1.0, 1.5), Reason.NARROW, 12),
        (1.5, 0.003, (), Reason.NARROW, 12),
        (1.0, 0.2, (1.0,), Reason.BUDGET, 50),
    ],
)
def test_stops_for_the_right_reason(
    speedup: float, noise: float, thresholds: tuple[float, ...], reason: Reason, most: int
) -> None:
    look = measure(Rules(thresholds), noisy(random.Random(3), speedup, noise))
    assert look.stop is reason
    assert 6 <= look.pairs <= most
    assert look.interval is not None
    assert look.interval.low <= speedup <= look.interval.high


def test_looks_only_after_a_whole_abba() -> None:
    stopping = Stopping(Rules())
    stopping.add_null(0.0, 0.0)
    looks = [stopping.add(200.0, 100.0, 0.0) for _ in range(6)]
    assert [look.interval is None for look in looks] == [True, False] * 3
    assert [look.stop for look in looks] == [None] * 5 + [Reason.DECIDED]


def test_the_budget_waits_for_the_least_pairs() -> None:
    look = measure(Rules(budget_s=1.0), noisy(random.Random(1), 1.0, 0.1), pair_s=0.5)
    assert (look.stop, look.pairs) == (Reason.BUDGET, 6)


def test_the_least_pairs_do_not_wait_for_ever() -> None:
    look = measure(Rules(budget_s=1.0, least_pairs=20), noisy(random.Random(1), 1.0, 0.1), 2.0)
    assert (look.stop, look.pairs) == (Reason.BUDGET, 4)


@pytest.mark.parametrize(("most", "stopped_at"), [(MOST_PAIRS, MOST_PAIRS), (21, 20)])
def test_the_pairs_have_an_end(most: int, stopped_at: int) -> None:
    rules = Rules(budget_s=1e9, most_pairs=most)
    look = measure(rules, noisy(random.Random(1), 1.0, 0.2))
    assert (look.stop, look.pairs) == (Reason.PAIRS, stopped_at)


def test_the_null_is_subtracted_before_looking() -> None:
    """With the protocol's 90 of 100 us left in, a kernel twice as fast would seem 1.05x."""
    stopping = Stopping(Rules())
    for _ in range(4):
        stopping.add_null(90.0, 90.0)
    looks = [stopping.add(100.0, 95.0, 0.0) for _ in range(6)]
    assert looks[-1].interval is not None
    assert looks[-1].interval.center == pytest.approx(2.0)
    assert stopping.baseline.median_us == pytest.approx(10.0)
    assert stopping.solution.median_us == pytest.approx(5.0)


def test_pairs_need_a_null() -> None:
    stopping = Stopping(Rules())
    stopping.add(1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="null"):
        stopping.add(1.0, 1.0, 0.0)


@pytest.mark.parametrize("pairs", [(2, 10), (6, MOST_PAIRS + 1), (12, 10)])
def test_rules_that_break_the_interval_are_refused(pairs: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="pairs must lie"):
        Rules(least_pairs=pairs[0], most_pairs=pairs[1])


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.03], ids=["calm", "usual", "shared machine"])
def test_a_copy_is_called_fast_in_at_most_one_of_forty_pairs(noise: float) -> None:
    """Stopping included: each look is one more chance to be fooled, and none must be had for free.

    Plain 95 % t intervals at each look would call one copy in nine fast at 3 % noise.
    """
    source = random.Random(20261129)
    runs = 240
    fast = 0
    for _ in range(runs):
        look = measure(Rules(budget_s=60 * PAIR_S), noisy(source, 1.0, noise))
        assert look.interval is not None
        fast += look.interval.above(1.0)
    assert fast / runs <= 0.025


def test_what_turns_do_not_show_is_part_of_what_is_decided() -> None:
    """A copy whose turns say 1.01x is not decided, and the interval that is reported says so."""
    rules = Rules(thresholds=(1.0,), budget_s=1.0, width=0.0)
    looks = {}
    for name, apart in {"alike": Apart(), "apart": Apart(share=0.005, us=0.6)}.items():
        stopping = Stopping(rules, apart)
        for _ in range(6):
            stopping.add_null(100.0, 100.0)
        for turn in range(8):
            jitter = 0.02 * (turn % 3)
            look = stopping.add(160.6 + jitter, 160.0 + jitter, elapsed_s=0.1)
        looks[name] = look
    assert looks["alike"].stop is Reason.DECIDED
    assert looks["apart"].stop is None
    interval = looks["apart"].interval
    assert interval is not None
    assert interval.low < 1.0 < interval.center


def test_turns_that_say_more_than_the_processes_do_are_enough() -> None:
    """On a CPU, where processes are 2 % and 10 us apart: no more turns could show a copy faster."""
    source = random.Random(5)
    turns = noisy(source, 1.0, 0.02)
    looks = {}
    for share in (0.0, 0.04):
        stopping = Stopping(Rules(budget_s=60 * PAIR_S), Apart(share))
        stopping.add_null(0.0, 0.0)
        for number, pair in enumerate(turns, start=1):
            look = stopping.add(*pair, number * PAIR_S)
            if look.stop:
                break
        looks[share] = look
    assert looks[0.0].stop is Reason.BUDGET
    assert looks[0.04].stop is Reason.NARROW
    assert looks[0.04].pairs < looks[0.0].pairs / 3
    interval = looks[0.04].interval
    assert interval is not None
    assert interval.width / 2 < 1.5 * 0.04


def test_what_more_turns_could_decide_is_gone_on_with() -> None:
    """A kernel 18 % faster, where processes are 14 % apart and a turn's noise is 4 %."""
    source = random.Random(7)
    fast = 0
    for _ in range(50):
        stopping = Stopping(Rules(), Apart(0.02, 10.0))
        stopping.add_null(0.0, 0.0)
        for number, pair in enumerate(noisy(source, 1.18, 0.04), start=1):
            look = stopping.add(*pair, number * 0.004)
            if look.stop:
                break
        assert look.interval is not None
        fast += look.interval.above(1.0)
    assert fast >= 45  # 29 where it stops as soon as turns say more than the processes


def test_what_is_asked_for_the_whole_budget_is_measured_for_the_whole_budget() -> None:
    stopping = Stopping(Rules((), budget_s=1.0, width=0.0), Apart(0.5))
    stopping.add_null(0.0, 0.0)
    stops = [stopping.add(100.0, 100.0, 0.04 * turn).stop for turn in range(1, 25)]
    assert stops == [None] * 24


def test_a_time_below_the_protocols_cost_is_widened_by_nothing() -> None:
    assert Apart(share=0.1, us=1.0).of(0.0) == 0.0
