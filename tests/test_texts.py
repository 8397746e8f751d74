"""What solutions write is shown as text, wherever a verdict is shown."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET

import msgspec
import pytest

from pytest_kernelbench.reports.records import Record
from pytest_kernelbench.texts import hanging, in_xml, printable
from pytest_kernelbench.verdict import Measurement, Provenance, Status, Verdict

TEXTS = [
    ("plain, umlauts äöü, 漢字,\n\ttabs and lines", "plain, umlauts äöü, 漢字,\n\ttabs and lines"),
    ("\x1b[2Jgone", r"\x1b[2Jgone"),
    ("passed\r1 failed", r"passed\x0d1 failed"),
    ("\x9b31m\x07\x08", r"\x9b31m\x07\x08"),
    ("txt\u202eexe", r"txt\x202eexe"),
    ("half a pair \ud83d", r"half a pair \xd83d"),
]


@pytest.mark.parametrize(("text", "shown"), TEXTS)
def test_control_characters_are_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    text.encode("utf-8", "surrogatepass")
    shown.encode()


def test_what_xml_cannot_hold_is_replaced() -> None:
    kept = "\t\n\r ~äöü漢\ud7ff\ue000\ufffd\U00010000\U0010ffff"
    assert in_xml(kept) == kept
    ET.fromstring(f"<a>{kept}</a>")  # noqa: S314 - our own
    assert in_xml("\x00\x08\x0b\x1f\ud800\udfff\ufffe\uffff", "?") == "?" * 8


def test_every_text_of_a_solution_is_spelled_out() -> None:
    bell = "\x07"
    verdict = Verdict(
        1, 1, "p", "e", "s.py", Status.RAISED,
        reasons=(bell,), notes=(bell,), detail=bell, kernels={bell: 1.0},
    )  # fmt: skip
    assert bell not in str(verdict.to_builtins())
    assert Verdict.from_builtins(verdict.to_builtins()) == verdict


def test_lines_after_the_first_are_set_in() -> None:
    assert hanging("one") == "one"
    assert hanging("one\ntwo\n\n  three\n") == "one\n    two\n\n      three\n"


def test_every_name_is_one_line() -> None:
    """Also those in a file of records that somebody else wrote."""
    name, shown = "a\x1b[31m\n::error::x\ty", r"a\x1b[31m\x0a::error::x\x09y"
    measured = Measurement(name, 1, 1, 1, 1, 1, 1, 1, 1, notes=(name,))
    origin = Provenance("", "", {}, name, name, name, name)
    verdict = Verdict(
        1, 1, name, name, name, Status.RIGHT, measurements=(measured,), device=name,
        device_uuid=name, size=name, dtype=name, walls=(name,), missing_walls=(name,), log=name,
        provenance=origin,
    )  # fmt: skip
    plain = Record(name, 1, verdict, selftest=name)
    assert plain.nodeid == plain.selftest == verdict.entrant == verdict.solution == shown
    assert "\x1b" not in str(msgspec.to_builtins(plain))
    assert "\n" not in str(msgspec.to_builtins(plain))
    again = msgspec.convert(msgspec.to_builtins(plain), Record)
    assert again == plain


def test_a_path_of_bytes_that_are_no_text_is_still_a_path() -> None:
    path = os.fsdecode(b"/home/jos\xe9/s.py")
    assert Verdict(1, 1, "p", "e", path, Status.RIGHT).solution == path
