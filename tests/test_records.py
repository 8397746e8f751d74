"""Records are strict JSON and come back as they went."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.records import Asked, Record, RecordWriter, encode, read
from pytest_kernelbench.reports.schema import schema, text
from pytest_kernelbench.verdict import Measurement, Provenance, Roofline, Status, Verdict


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


def test_no_number_anywhere(tmp_path: Path) -> None:
    """Wherever a number stands it may be none, and is read again as such."""
    nan = math.nan
    measured = Measurement("eager", *[nan] * 6, 3, 30, (nan, 1.0), (nan,), nan, nan, nan)
    odd = replace(
        verdict(), measurements=(measured,), control=measured, previous=measured, build_s=nan,
        judge_s=nan, kernels={"k": nan}, roofline=Roofline(1, nan, nan, nan),
    )  # fmt: skip
    line = encode(Record("a::b", 100, odd))
    jsonschema.validate(json.loads(line, parse_constant=refuse), schema())
    (tmp_path / "x").write_bytes(line + b"\n")
    (again,) = read(tmp_path / "x")
    assert encode(again) == line
    assert again.verdict.previous is not None
    assert math.isnan(again.verdict.previous.times_us[0])


@pytest.mark.parametrize("status", Status)
def test_records_hold_to_the_published_schema(status: Status) -> None:
    origin = Provenance("a", "b", {"seeds": 2}, "2.14", "t", "0.1", "2026-11-29T00:00:00+00:00")
    full = replace(verdict(), status=status, provenance=origin, control=verdict().measurement)
    for made in (full, Verdict(1, 1, "p", "e", "x.py", status)):
        plain = json.loads(encode(Record("a::b", 1, made, {"conv": 1}, "said", source="x = 1")))
        jsonschema.validate(plain, schema())
        plain["status"] = "splendid"
        with pytest.raises(jsonschema.ValidationError, match="splendid"):
            jsonschema.validate(plain, schema())


def test_the_published_schema_is_current() -> None:
    published = (Path(__file__).parent.parent / "docs/record.schema.json").read_text()
    made = "python -m pytest_kernelbench.reports.schema > docs/record.schema.json"
    assert published == text(), f"the record has changed: {made}"
    jsonschema.Draft202012Validator.check_schema(schema())


def test_two_sessions_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(encode(Record("a::b", 1, verdict())) + b"\n")
    before = path.read_bytes()
    holding = (
        "import fcntl, sys; file = open(sys.argv[1], 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holding, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UsageError, match="is being written by another session"):
            RecordWriter(path, lambda *_: Asked(1))
        other.kill()
    assert path.read_bytes() == before


@pytest.mark.parametrize("cut", [b"", b'{"nodeid": "c', None])
def test_resuming_mends_the_end(tmp_path: Path, cut: bytes | None) -> None:
    path = tmp_path / "out.jsonl"
    whole = encode(Record("a::b", 1, verdict()))
    path.write_bytes(whole if cut is None else whole + b"\n" + cut)
    writer = RecordWriter(path, lambda *_: Asked(1), resume=True)
    writer.pytest_kernelbench_verdict(verdict(), "a::b")
    writer.pytest_kernelbench_verdict(verdict(), "c::d")
    writer.close()
    assert [record.nodeid for record in read(path)] == ["a::b", "c::d"]
    assert path.read_bytes().startswith(whole + b"\n")


def test_a_last_line_cut_short_is_passed_over(tmp_path: Path) -> None:
    line = encode(Record("a::b", 100, verdict()))
    (tmp_path / "x").write_bytes(line + b"\n" + line[:50])
    assert [record.nodeid for record in read(tmp_path / "x")] == ["a::b"]


def test_any_other_broken_line_is_refused_with_its_number(tmp_path: Path) -> None:
    line = encode(Record("a::b", 100, verdict()))
    (tmp_path / "x").write_bytes(line + b"\n" + line[:50] + b"\n" + line + b"\n")
    with pytest.raises(UsageError, match=r"x:2: not a record of schema 1"):
        list(read(tmp_path / "x"))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"schema": 2}, "it is of schema 2, written by a newer version of pytest-kernelbench"),
        ({"schema": 0}, "there is no schema 0"),
        ({"schema": "1"}, "there is no schema '1'"),
        ({"schema": None}, "it has no schema"),
        ({"nodeid": ""}, "it has no nodeid"),
        ({"asked": 1_000_000_000}, "a level has 0 to 100000 problems, not as many as were asked"),
        ({"asked": -1}, "a level has 0 to 100000 problems"),
        ({"families": {"conv": 1_000_000_000}}, "a level has 0 to 100000 problems"),
        ({"families": {"conv": -5}}, "a level has 0 to 100000 problems"),
    ],
)
def test_what_this_version_cannot_read_is_refused(
    tmp_path: Path, changed: dict[str, object], why: str
) -> None:
    plain = json.loads(encode(Record("a::b", 1, verdict())))
    for end in ("", "\n"):
        (tmp_path / "x").write_text(json.dumps(plain | changed) + end)
        with pytest.raises(UsageError, match=f"x:1: not a record of schema 1: {why}"):
            list(read(tmp_path / "x"))


@pytest.mark.parametrize("lacking", ["schema", "nodeid"])
def test_what_a_record_must_have(tmp_path: Path, lacking: str) -> None:
    plain = json.loads(encode(Record("a::b", 1, verdict())))
    del plain[lacking]
    (tmp_path / "x").write_text(json.dumps(plain))
    with pytest.raises(UsageError, match=f"x:1: not a record of schema 1: it has no {lacking}"):
        list(read(tmp_path / "x"))


def test_the_file_stays_until_the_first_verdict(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(encode(Record("a::b", 1, verdict())) + b"\n")
    before = path.read_bytes()
    RecordWriter(path, lambda *_: Asked(1)).close()
    assert path.read_bytes() == before
    writer = RecordWriter(path, lambda *_: Asked(1))
    writer.pytest_kernelbench_verdict(verdict(), "c::d")
    writer.close()
    assert [record.nodeid for record in read(path)] == ["c::d"]


DEEP = [
    b'{"nodeid": ' + b"[" * 5_000,
    b'{"nodeid": "a::b", "provenance": {"settings": {"p": ' + b"[" * 950 + b"]" * 950 + b"}}}",
]


@pytest.mark.parametrize("line", DEEP)
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_nested_too_deep_is_no_record(
    tmp_path: Path, line: bytes, end: bytes
) -> None:
    (tmp_path / "x").write_bytes(line + end)
    with pytest.raises(UsageError, match="x:1: not a record of schema 1: it is nested more than"):
        list(read(tmp_path / "x"))


@pytest.mark.parametrize("text", [b'{"a": 1}', b'{"nodeid": 1}', b"x", b'{"a": 1', *DEEP])
def test_a_foreign_last_line_is_not_cut_off(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(text)
    with pytest.raises(UsageError, match="not a record of schema 1"):
        RecordWriter(path, lambda *_: Asked(1), resume=True)
    assert path.read_bytes() == text
