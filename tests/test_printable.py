"""What solutions write is shown as text, wherever a verdict is shown."""

from __future__ import annotations

import pytest

from pytest_kernelbench.verdict import Status, Verdict, hanging, printable

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
