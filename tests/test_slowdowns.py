"""Whether a solution became slower, from two verdicts."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.slowdowns import (
    Place,
    by_name,
    change_of,
    ratio,
    refuse,
    slowdown_gates,
    unfit,
)
from pytest_kernelbench.verdict import Measurement, Provenance, Status, Verdict


def measured(speedup: float, low: float, high: float, baseline: str = "eager") -> Measurement:
    return Measurement(baseline, speedup, low, high, 100.0, 100.0 / speedup, 1.0, 6, 30)


def verdict(
    *figures: float,
    number: int = 1,
    source: str = "a",
    status: Status = Status.FAST,
    **more: Any,
) -> Verdict:
    origin = Provenance(source, "p", {}, "2.14.0", "t", "0.1.0", "2026-11-29T00:00:00+00:00")
    made = Verdict(
        1, number, "relu", "ann", "/x.py", status, device="H200", dtype="fp32", size="full",
        provenance=origin, measurements=(measured(*figures),) if figures else (),
    )  # fmt: skip
    return replace(made, **more)


BEFORE = verdict(2.0, 1.98, 2.02)
CHANGES = [
    (verdict(2.0, 1.98, 2.02, source="b"), True),
    (verdict(1.96, 1.94, 1.98, source="b"), True),  # 2 % slower
    (verdict(1.86, 1.80, 1.92, source="b"), True),  # 7 % slower, not shown to be 5 %
    (verdict(1.80, 1.78, 1.82, source="b"), False),
    (verdict(1.0, 0.99, 1.01, source="b"), False),
    (verdict(4.0, 3.9, 4.1, source="b"), True),
    (verdict(1.0, 0.99, 1.01, source="a"), True),  # the same source: whatever that is, not it
    (verdict(source="b"), True),
    (verdict(source="b", status=Status.RAISED), True),  # fails by itself
]


@pytest.mark.parametrize(("now", "passed"), CHANGES)
def test_by_ratio(now: Verdict, *, passed: bool) -> None:
    gates = slowdown_gates([now], by_name([BEFORE]), "base.jsonl", 0.05)
    assert all(gate.passed for gate in gates) is passed


@pytest.mark.parametrize(("low", "high", "passed"), [(0.89, 0.92, False), (0.92, 0.97, True)])
def test_timed_in_turns_goes_before_the_ratio(low: float, high: float, *, passed: bool) -> None:
    slow = verdict(1.0, 0.99, 1.01, source="b", previous=measured((low + high) / 2, low, high))
    gates = slowdown_gates([slow], by_name([BEFORE]), "base.jsonl", 0.05)
    assert gates[-1].passed is passed


def test_words() -> None:
    slow = verdict(1.7, 1.68, 1.72, source="b", number=2)
    others = [verdict(2.0, 1.9, 2.1, source="b"), verdict(number=3, source="b")]
    old = [BEFORE, *(replace(BEFORE, number=number) for number in (2, 3, 4))]
    same = replace(BEFORE, number=4)
    gates = slowdown_gates([slow, *others, same], by_name(old), "base.jsonl", 0.05)
    one, summed = map(str, gates)
    assert one == (
        "gate FAILED: speed of level1/002_relu by ann: 0.85x (0.83 to 0.87) of before, "
        "below 0.952 (by speedups over the baseline)"
    )
    assert summed == (
        "gate FAILED: slower than in base.jsonl by more than 5 %: 1 of 2, at most 0; "
        "1 unchanged; 1 without a time to compare"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"device": "A100"}, "its device was H200, and is A100 now"),
        ({"dtype": "bf16"}, "its dtype was fp32, and is bf16 now"),
        ({"size": "smoke"}, "its size was full, and is smoke now"),
        ({"torch": "2.15.0"}, "its torch was 2.14.0, and is 2.15.0 now"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, change: dict[str, str], told: str
) -> None:
    place = replace(Place.of(BEFORE), **change)
    with pytest.raises(UsageError, match=told):
        refuse(tmp_path / "base.jsonl", [place], [BEFORE])
    refuse(tmp_path / "base.jsonl", [Place.of(BEFORE)], [BEFORE])


def test_no_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no times"):
        refuse(tmp_path / "base.jsonl", [], [verdict()])


def test_another_device_or_baseline_is_no_change() -> None:
    assert unfit(replace(BEFORE, device="A100"), BEFORE)
    assert change_of(replace(BEFORE, device="A100"), BEFORE) is None
    other = verdict(measurements=(measured(1.0, 0.9, 1.1, "compile"),))
    assert change_of(other, BEFORE) is None


spreads = st.floats(1.0001, 1.5)


@given(st.floats(0.01, 100), st.floats(0.01, 100), spreads, spreads)
def test_ratio_is_sound(one: float, other: float, mine: float, theirs: float) -> None:
    now = measured(one, one / mine, one * mine)
    before = measured(other, other / theirs, other * theirs)
    made, turned = ratio(now, before), ratio(before, now)
    assert made.low < made.center < made.high
    assert made.center == pytest.approx(one / other)
    assert turned.low == pytest.approx(1 / made.high)
    widest = math.log(mine) + math.log(theirs)
    assert max(math.log(mine), math.log(theirs)) - 1e-9 <= math.log(made.high / made.center)
    assert math.log(made.high / made.center) <= widest + 1e-9
