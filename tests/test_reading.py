"""Readers of option texts, each with what it takes and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_kernelbench import reading


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (reading.whole(1), "5", 5),
        (reading.real(0), "0", 0.0),
        (reading.real(0), "1e-4", 1e-4),
        (reading.real(0, above=True), "0.5", 0.5),
        (reading.choice("a", "b"), "b", "b"),
        (reading.device, "cuda:1", "cuda:1"),
        (reading.problem, "1/19", "1/19"),
        (reading.problem, "level01/019", "1/19"),
        (reading.gate, "0.5", (None, 0.5)),
        (reading.gate, "2:0.5", (2, 0.5)),
    ],
)
def test_reads(reader: Any, text: str, value: object) -> None:
    assert reader(text) == value


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (reading.whole(1), "0", "'0' is not a whole number of at least 1"),
        (reading.whole(1), "2.5", "'2.5' is not a whole number"),
        (reading.whole(1), "", "'' is not a whole number"),
        (reading.real(0), "-1", "'-1' is not a number of at least 0"),
        (reading.real(0), "nan", "'nan' is not a number"),
        (reading.real(0), "inf", "'inf' is not a number"),
        (reading.real(0, above=True), "0", "'0' is not a number above 0"),
        (reading.choice("a", "b"), "c", "'c' is none of a, b"),
        (reading.word, "", "it needs a name"),
        (reading.device, "gpu", "'gpu' is none of auto, cpu, cuda, cuda:N"),
        (reading.device, "cuda:", "'cuda:' is none of"),
        (reading.problem, "19", "'19' is "),
        (reading.gate, "1.5", "'1.5' is above 1, but fast_p is a share"),
        (reading.gate, "x:0.5", "'x' is not a whole number"),
        (reading.gate, ":0.5", "'' is not a whole number"),
    ],
)
def test_refuses(reader: Any, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        reader(text)
