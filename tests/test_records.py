"""Records are strict JSON and come back as they went."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.records import Asked, Record, RecordWriter, encode, read
from pytest_kernelbench.verdict import Measurement, Status, Verdict


def verdict(speedup: float = 2.0) -> Verdict:
    measured = Measurement("eager", speedup, 1.9, 2.1, 10, 5, 1, 3, 30, (5.0, 5.1), (10.0, 9.9))
    return Verdict(
        level=1,
        number=19,
        problem="relu",
        entrant="zoë",
        solution="/x/y.py",
        status=Status.FAST,
        agreed=True,
        reasons=("a", "b"),
        measurements=(measured,),
        kernels={"k<float>": 0.5},
    )


def refuse(word: str) -> float:
    raise AssertionError(word)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    writer = RecordWriter(path, lambda verdict, _: Asked(100 * verdict.level))
    writer.pytest_kernelbench_verdict(verdict(), "a::b")
    assert path.read_bytes().endswith(b"\n"), "on disk before the session ends"
    writer.pytest_kernelbench_verdict(verdict(3.0), "c::d")
    writer.close()
    assert list(read(path)) == [
        Record("a::b", 100, verdict()),
        Record("c::d", 100, verdict(3.0)),
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_null(value: float, tmp_path: Path) -> None:
    line = encode(Record("a::b", 100, verdict(value)))
    plain = json.loads(line, parse_constant=refuse)
    assert plain["measurements"][0]["speedup"] is None
    assert plain["schema"] == 1
    (tmp_path / "x").write_bytes(line + b"\n")
    (again,) = read(tmp_path / "x")
    measured = again.verdict.measurement
    assert measured is not None
    assert math.isnan(measured.speedup)
    assert measured.low == 1.9


def test_a_last_line_cut_short_is_passed_over(tmp_path: Path) -> None:
    line = encode(Record("a::b", 100, verdict()))
    (tmp_path / "x").write_bytes(line + b"\n" + line[:50])
    assert [record.nodeid for record in read(tmp_path / "x")] == ["a::b"]


def test_any_other_broken_line_is_refused_with_its_number(tmp_path: Path) -> None:
    line = encode(Record("a::b", 100, verdict()))
    (tmp_path / "x").write_bytes(line + b"\n" + line[:50] + b"\n" + line + b"\n")
    with pytest.raises(UsageError, match=r"x:2: not a record of schema 1"):
        list(read(tmp_path / "x"))
