"""The summary's lines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import measured

from pytest_kernelbench.reports.terminal import control, shortened, times, wrapped


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (0.5, "0.50x"),
        (1.0, "1.00x"),
        (9.994, "9.99x"),
        (9.996, "10.0x"),
        (99.96, "100x"),
        (1234.5, "1234x"),
        (99_999.4, "99999x"),
        (99_999.6, "1.0e+05x"),
    ],
)
def test_speedups_have_three_digits(factor: float, text: str) -> None:
    assert times(factor) == text


def test_names_are_shortened_at_their_beginning() -> None:
    assert shortened("ann", 8) == "ann"
    assert shortened("model/run-1", 8) == "~l/run-1"


def test_parts_are_wrapped_whole() -> None:
    parts = ["one: 1", "two: 2", "three: 3"]
    assert list(wrapped(parts, "  ", width=18)) == ["  one: 1, two: 2,", "  three: 3"]
    assert list(wrapped(parts, "  ")) == ["  one: 1, two: 2, three: 3"]
    assert list(wrapped(parts, "", "   ", width=16)) == ["one: 1, two: 2,", "   three: 3"]
    assert list(wrapped([], "  ")) == []
    assert list(wrapped(["longer than the line"], "  ", width=10)) == ["  longer than the line"]


def test_a_control_that_claims_nothing_says_why() -> None:
    assert control(measured(1.0)) == "reference against itself: 1.00x (0.98 to 1.02)"
    doubted = replace(measured(0.7), low=0.0, notes=("the processors were too busy",))
    assert control(doubted) == "reference against itself: 0.70x; the processors were too busy"
