"""Scores against tables worked by hand, and against properties that hold for any."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kernelbench.score import (
    Beside,
    Sample,
    at,
    at_least_one,
    bootstrap_interval,
    geometric_mean,
    sample_of,
    score,
)
from pytest_kernelbench.verdict import Measurement, Status, Verdict

R3 = Path(__file__).parent / "data/cases/reports/R3-denominator/expected.json"


def verdict(
    number: int,
    status: Status = Status.RIGHT,
    speedup: float | None = None,
    low: float | None = None,
    *,
    agreed: bool | None = None,
    sample: int = 0,
    level: int = 1,
) -> Verdict:
    measurements: tuple[Measurement, ...] = ()
    if speedup is not None:
        bounds = (speedup if low is None else low, speedup)
        measurements = (Measurement("eager", speedup, *bounds, 2.0, 2.0 / speedup, 0.1, 3, 30),)
    return Verdict(
        level=level,
        number=number,
        problem="twice",
        entrant="ann",
        solution="x.py",
        status=status,
        sample=sample,
        agreed=status.right if agreed is None else agreed,
        measurements=measurements,
    )


def numbers(count: int) -> list[tuple[int, int]]:
    return [(1, number) for number in range(1, count + 1)]


def test_denominator_of_the_reported_case() -> None:
    case = json.loads(R3.read_text())
    verdicts = []
    for row in case["rows"]:
        if row.get("note") == "no solution file":
            continue
        if not row["correct"]:
            late = row.get("note") == "time-out"
            verdicts.append(
                verdict(row["problem"], Status.TIMED_OUT if late else Status.WRONG_VALUE)
            )
        elif row["ms"] is None:
            verdicts.append(verdict(row["problem"], Status.RAISED, agreed=True))
        else:
            verdicts.append(verdict(row["problem"], speedup=row["ref_ms"] / row["ms"]))
    reached, expected = score(verdicts, numbers(6)), case["expect"]
    assert reached.n == expected["n"]
    assert reached.share(0).value == pytest.approx(expected["fast_0"])
    assert reached.share(1).value == pytest.approx(expected["fast_1"])
    assert reached.share(1).by_point == pytest.approx(expected["fast_1"])
    assert reached.share(2).value == expected["fast_2"]
    assert reached.geomean == pytest.approx(expected["geomean_correct_timed"])
    assert reached.timed == expected["geomean_n"]
    assert (reached.right_untimed, reached.missing) == (1, 1)
    assert reached.counts[Status.TIMED_OUT] == 1


@pytest.mark.parametrize(
    ("verdicts", "n", "fast_0", "fast_1", "by_point"),
    [
        pytest.param([], 4, 0, 0, 0, id="no answer at all"),
        pytest.param([verdict(1, Status.FAST, 3, 2.9)], 4, 0.25, 0.25, 0.25, id="one of four"),
        pytest.param([verdict(1, speedup=1.1, low=0.9)], 4, 0.25, 0, 0.25, id="only by point"),
        pytest.param([verdict(1, speedup=1, low=1)], 4, 0.25, 0, 0, id="equal is not faster"),
        pytest.param([verdict(1, Status.NOT_JUDGED)], 3, 0, 0, 0, id="the machine's fault"),
        pytest.param([verdict(1, Status.BAD_PROBLEM)], 3, 0, 0, 0, id="the problem's fault"),
        pytest.param([verdict(1, Status.SKIPPED)], 4, 0, 0, 0, id="skipped is not solved"),
        pytest.param([verdict(9, Status.FAST, 3, 2)], 4, 0, 0, 0, id="nobody asked"),
        pytest.param(
            [verdict(1, Status.WRONG_VALUE, 9, 9, agreed=False)], 4, 0, 0, 0, id="fast and wrong"
        ),
        pytest.param([verdict(1, Status.FAST, math.nan)], 4, 0.25, 0, 0, id="no number"),
        pytest.param(
            [verdict(1, Status.FAST, 2, 2), verdict(1, Status.WRONG_VALUE, sample=1)],
            4, 0.125, 0.125, 0.125, id="half of its samples",
        ),
        pytest.param(
            [verdict(1, Status.FAST, 2, 2), verdict(1, Status.NOT_JUDGED, sample=1)],
            4, 0.25, 0.25, 0.25, id="a sample not judged does not count",
        ),
    ],
)  # fmt: skip
def test_shares(
    verdicts: list[Verdict], n: int, fast_0: float, fast_1: float, by_point: float
) -> None:
    reached = score(verdicts, numbers(4))
    assert reached.n == n
    assert reached.share(0).value == fast_0
    assert reached.share(1).value == fast_1
    assert reached.share(1).by_point == by_point


def test_strict_takes_library_kernels_for_unsolved() -> None:
    verdicts = [verdict(1, Status.NOT_A_KERNEL, 2, 2)]
    assert score(verdicts, numbers(2)).share(1).value == 0.5
    assert score(verdicts, numbers(2), strict=True).share(1).value == 0
    assert score(verdicts, numbers(2), strict=True).right == 0


def test_counts_builds_and_right_answers() -> None:
    verdicts = [
        verdict(1, Status.FAST, 2),
        verdict(2, Status.NOT_BUILT),
        verdict(3, Status.CRASHED),
        verdict(4, Status.SKIPPED),
    ]
    reached = score(verdicts, numbers(5))
    assert (reached.tried, reached.built, reached.right) == (3, 2, 1)
    assert (reached.missing, reached.best) == (1, 2.0)


def test_no_problems_is_no_score_and_no_division_by_zero() -> None:
    reached = score([], [])
    assert (reached.n, reached.share(1).value, reached.geomean) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("samples", "successes", "k", "chance"),
    [
        (1, 0, 1, 0.0),
        (1, 1, 1, 1.0),
        (2, 1, 1, 0.5),
        (4, 1, 2, 0.5),
        (5, 2, 3, 0.9),  # 1 - C(3,3)/C(5,3) = 1 - 1/10
        (10, 3, 10, 1.0),
    ],
)
def test_at_least_one(samples: int, successes: int, k: int, chance: float) -> None:
    assert at_least_one(samples, successes, k) == pytest.approx(chance)


def test_at_least_one_refuses_what_cannot_be_estimated() -> None:
    with pytest.raises(ValueError, match="no estimate at k=3 from 1 of 2"):
        at_least_one(2, 1, 3)


@given(st.integers(1, 30), st.data())
def test_at_k_agrees_with_drawing_all_subsets(samples: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    # The chance that k draws without replacement all fail, one draw after another.
    failing = math.prod(
        max(0, samples - successes - drawn) / (samples - drawn) for drawn in range(k)
    )
    assert at_least_one(samples, successes, k) == pytest.approx(1 - failing)


def test_at_k_with_uneven_numbers_of_samples() -> None:
    right, wrong = Sample(Status.RIGHT, agreed=True), Sample(Status.WRONG_VALUE, agreed=False)
    groups = [[right, wrong, wrong], [right], []]
    at_2 = at(groups, 2, lambda sample: sample.agreed)
    assert at_2.value == pytest.approx((2 / 3 + 0) / 2)
    assert (at_2.n, at_2.short) == (2, 1)
    assert at([[right]], 2, lambda sample: sample.agreed).value is None


def test_at_1_is_the_share() -> None:
    verdicts = [
        verdict(n, Status.FAST if (n * s) % 3 else Status.RAISED, 2.0, sample=s)
        for n in range(1, 6)
        for s in range(n)
    ]
    reached = score(verdicts, numbers(7), (0, 1), at_k=(1,))
    assert reached.pass_at[0].value == pytest.approx(reached.share(0).value)
    assert reached.fast_at[0][1].value == pytest.approx(reached.share(1).value)


speedups = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=50)


@given(speedups)
def test_geometric_mean_lies_between_and_inverts(values: list[float]) -> None:
    mean = geometric_mean(values)
    assert mean is not None
    assert min(values) * (1 - 1e-9) <= mean <= max(values) * (1 + 1e-9)
    inverse = geometric_mean([1 / value for value in values])
    assert inverse == pytest.approx(1 / mean)


def test_geometric_mean_of_what_would_overflow() -> None:
    assert geometric_mean([1e300] * 2000) == pytest.approx(1e300)
    assert geometric_mean([]) is None


@st.composite
def verdict_lists(draw: st.DrawFn) -> list[Verdict]:
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(1, 8),
                st.sampled_from(Status),
                st.none() | st.floats(0.01, 100),
                st.floats(0.1, 1),
            ),
            max_size=30,
        )
    )
    return [
        verdict(number, status, speedup, None if speedup is None else speedup * part, sample=index)
        for index, (number, status, speedup, part) in enumerate(rows)
    ]


@given(verdict_lists(), st.randoms(use_true_random=False))
def test_any_score_is_sound(verdicts: list[Verdict], order: random.Random) -> None:
    thresholds = (0.0, 0.5, 1.0, 2.0)
    reached = score(verdicts, numbers(8), thresholds)
    values = [share.value for share in reached.shares]
    assert values == sorted(values, reverse=True), "fast_p falls with p"
    for share in reached.shares:
        assert 0 <= share.value <= share.by_point <= 1, "the lower bound is the stricter count"
        low, high = share.interval
        assert low - 1e-9 <= share.value <= high + 1e-9 or reached.n < 3
    assert 0 <= reached.right <= reached.built <= reached.tried <= len(verdicts)
    told = {v.number for v in verdicts if v.status not in (Status.NOT_JUDGED, Status.BAD_PROBLEM)}
    assert reached.n == 8 - len({v.number for v in verdicts} - told)
    assert sum(reached.counts.values()) == len(verdicts)
    shuffled = list(verdicts)
    order.shuffle(shuffled)
    again = score(shuffled, reversed(numbers(8)), thresholds)
    assert [s.interval for s in again.shares] == [s.interval for s in reached.shares]
    assert [s.value for s in again.shares] == pytest.approx(values)
    assert (again.n, again.right, again.timed) == (reached.n, reached.right, reached.timed)


def test_bootstrap_covers_about_as_often_as_it_says() -> None:
    draw = random.Random(1)  # noqa: S311
    covered = 0
    for trial in range(100):
        values = [float(draw.random() < 0.3) for _ in range(60)]
        low, high = bootstrap_interval(values, resamples=300, seed=trial)
        covered += low <= 0.3 <= high
    assert covered >= 88


def test_bootstrap_is_the_same_on_every_run_and_has_no_width_without_spread() -> None:
    values = [0.0, 1.0, 0.5, 1.0]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval([1.0] * 5) == (1.0, 1.0)
    assert bootstrap_interval([]) == (0.0, 0.0)


def test_a_sample_has_no_speedup_unless_right() -> None:
    assert sample_of(verdict(1, Status.RAISED, 3.0, agreed=True)).speedup is None
    assert sample_of(verdict(1, Status.RIGHT, 3.0)).speedup == 3.0


def test_further_baselines_stand_beside_the_score() -> None:
    """They are counted over what is right, and move nothing of what decides."""
    made = []
    for number, (status, speedup, low) in enumerate(
        [(Status.RIGHT, 2.0, 1.5), (Status.FAST, 8.0, 0.9), (Status.WRONG_VALUE, 50.0, 40.0)], 1
    ):
        plain = verdict(number, status, 1.0)
        more = Measurement("compile", speedup, low, speedup, 2.0, 1.0, 0.1, 3, 30)
        made.append(replace(plain, measurements=(*plain.measurements, more)))
    scored = score(made, numbers(4))
    assert scored.beside == (Beside("compile", pytest.approx(4.0), 2, 1),)
    assert scored.geomean == 1.0
    assert score([verdict(1, speedup=2.0)], numbers(1)).beside == ()


def test_strict_leaves_library_kernels_out_against_every_baseline() -> None:
    plain = verdict(1, Status.NOT_A_KERNEL, 3.0)
    more = Measurement("compile", 2.0, 1.5, 2.5, 2.0, 1.0, 0.1, 3, 30)
    made = [replace(plain, measurements=(*plain.measurements, more))]
    assert score(made, numbers(1)).beside == (Beside("compile", pytest.approx(2.0), 1, 1),)
    strictly = score(made, numbers(1), strict=True)
    assert (strictly.geomean, strictly.beside) == (None, ())


def test_the_spread_over_very_many_problems_takes_no_time() -> None:
    values = [1.0] * 300 + [0.0] * 700
    resampled = bootstrap_interval(values * 5)
    at_once = bootstrap_interval(values * 50)
    assert resampled == pytest.approx((0.287, 0.313), abs=0.002)
    assert at_once == pytest.approx((0.296, 0.304), abs=0.001)


@pytest.mark.parametrize("speedup", [1e308, 1e9, 1e-308, 0.0, -1.0, math.nan, math.inf])
def test_what_is_no_ratio_of_times_is_no_speedup(speedup: float) -> None:
    measured = Measurement("eager", speedup, speedup, speedup, 1, 1, 1, 1, 1)
    verdict = Verdict(1, 1, "p", "e", "s.py", Status.FAST, agreed=True, measurements=(measured,))
    assert sample_of(verdict).speedup is None
    assert sample_of(verdict).agreed
