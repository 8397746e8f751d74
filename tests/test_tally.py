"""Rows over levels, families and entrants: parts of one whole."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kernelbench.score import Key, at_least_one
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.tally import by_family, leaders, rows, thresholds
from pytest_kernelbench.verdict import Measurement, Status, Verdict

FAMILIES = {1: ("conv", "matmul", "activation"), 2: ("fusion",)}
ASKED = {
    level: {(level, number): families[number % len(families)] for number in range(1, 8)}
    for level, families in FAMILIES.items()
}


def asked(level: int) -> dict[Key, str]:
    return ASKED[level]


def verdict(
    level: int, number: int, entrant: str, sample: int, status: Status, speedup: float = 2.0
) -> Verdict:
    measured = Measurement("eager", speedup, speedup * 0.9, speedup * 1.1, 1.0, 1.0, 0.1, 3, 30)
    return Verdict(
        level, number, "p", entrant, "x.py", status, sample, status.right,
        measurements=(measured,) if status.right else (),
    )  # fmt: skip


@st.composite
def sessions(draw: st.DrawFn) -> list[Verdict]:
    """Verdicts with uneven numbers of samples."""
    made, samples = [], Counter[tuple[int, int, str]]()
    for _ in range(draw(st.integers(1, 25))):
        level, number = draw(st.sampled_from([1, 2])), draw(st.integers(1, 7))
        entrant = draw(st.sampled_from(["ann", "bob", "eve"]))
        status, speedup = draw(st.sampled_from(Status)), draw(st.floats(0.1, 10))
        key = (level, number, entrant)
        made.append(verdict(level, number, entrant, samples[key], status, speedup))
        samples[key] += 1
    return made


@given(sessions())
def test_families_are_the_level_divided(verdicts: list[Verdict]) -> None:
    settings = Settings()
    for row in rows(verdicts, asked, settings):
        parts = [
            part.score
            for part in by_family(verdicts, asked, settings)
            if (part.level, part.entrant) == (row.level, row.entrant)
        ]
        assert sum(part.n for part in parts) == row.score.n
        for count in ("missing", "tried", "built", "right", "timed"):
            assert sum(getattr(part, count) for part in parts) == getattr(row.score, count)
        assert sum((Counter(part.counts) for part in parts), Counter()) == row.score.counts
        for p in (0.0, *thresholds(settings)):
            weighed = sum(part.share(p).value * part.n for part in parts)
            assert weighed == pytest.approx(row.score.share(p).value * row.score.n)


@given(sessions())
def test_leaders_answer_the_same_problems_and_are_in_order(verdicts: list[Verdict]) -> None:
    board = leaders(verdicts, asked, Settings())
    levels = {verdict.level for verdict in verdicts}
    whole = sum(len(asked(level)) for level in levels)
    assert {row.entrant for row in board} == {verdict.entrant for verdict in verdicts}
    for row in board:
        own = [verdict for verdict in verdicts if verdict.entrant == row.entrant]
        told = {
            (v.level, v.number) for v in own if v.status.value not in ("not_judged", "bad_problem")
        }
        lost = {(v.level, v.number) for v in own} - told
        assert row.score.n == whole - len(lost)
    shares = [row.score.share(1.0).value for row in board]
    assert shares == sorted(shares, reverse=True)


def test_a_level_that_somebody_left_out_counts_against_them() -> None:
    verdicts = [
        verdict(1, 1, "ann", 0, Status.FAST),
        verdict(2, 1, "bob", 0, Status.FAST),
        verdict(1, 1, "bob", 0, Status.FAST, 3.0),
    ]
    board = leaders(verdicts, asked, Settings())
    assert [(row.entrant, row.score.n) for row in board] == [("bob", 14), ("ann", 14)]
    assert board[1].score.share(1.0).value == pytest.approx(1 / 14)


def test_equal_shares_are_ranked_by_what_is_right_and_then_by_speedup() -> None:
    verdicts = [
        verdict(1, 1, "ann", 0, Status.RIGHT, 0.5),
        verdict(1, 1, "bob", 0, Status.RIGHT, 0.6),
        verdict(1, 1, "eve", 0, Status.RAISED),
    ]
    assert [row.entrant for row in leaders(verdicts, asked, Settings())] == ["bob", "ann", "eve"]


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.data())
def test_at_k_is_the_mean_over_every_choice_of_k_samples(
    outcomes: list[bool], data: st.DataObject
) -> None:
    """Of Chen et al.: no bias, as every set of k that could have been drawn counts once."""
    k = data.draw(st.integers(1, len(outcomes)))
    every = fmean(any(chosen) for chosen in combinations(outcomes, k))
    assert at_least_one(len(outcomes), sum(outcomes), k) == pytest.approx(every)
