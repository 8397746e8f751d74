"""What GitHub is shown, and what solutions cannot make of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kernelbench.gates import Gate, Row, ShareGate
from pytest_kernelbench.reports.annotations import (
    MOST,
    Annotation,
    annotate,
    commands_stopped,
    line_of,
)
from pytest_kernelbench.reports.markdown import MOST_LISTED, escaped, markdown
from pytest_kernelbench.reports.records import Record
from pytest_kernelbench.reports.summary import Outcome
from pytest_kernelbench.score import score
from pytest_kernelbench.settings import Settings
from pytest_kernelbench.slowdowns import Change, SlowdownGate
from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.verdict import Measurement, Status, Verdict

SOURCE = """import torch


class Helper:
    def forward(self): ...


class ModelNew(torch.nn.Module):
    def __init__(self): ...

    def forward(self, x):
        return x
"""
FORWARD = 11


def verdict(status: Status = Status.WRONG_VALUE, **changes: object) -> Verdict:
    made = Verdict(
        1, 19, "relu", "ann", "/repo/solutions/ann/019_relu.py", status, reasons=("3 differ",)
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def record(made: Verdict) -> Record:
    return Record("x.py::test_kernel[level1/019_relu]", 1, made, source=SOURCE)


def measured(low: float, high: float) -> tuple[Measurement, ...]:
    return (Measurement("eager", (low + high) / 2, low, high, 100.0, 50.0, 1.0, 6, 30),)


LINES = [
    (verdict(), FORWARD),
    (verdict(Status.NOT_BUILT, reasons=("019_relu.py:7: error: expected ';'",)), 7),
    (verdict(Status.NOT_BUILT, reasons=("SyntaxError",), detail="019_relu.py:4: oh"), 4),
    (
        verdict(
            Status.RAISED,
            detail='File "/a/019_relu.py", line 3, in a\n File "/a/019_relu.py", line 9, in b',
        ),
        9,
    ),
    (
        verdict(
            Status.NOT_BUILT,
            reasons=("main.cpp:3: 'valeu' was not declared",),
            detail="    return 2 * valeu;    (line 6 of the solution)",
        ),
        6,
    ),
    (verdict(reasons=("other_019_relu.txt:5",)), FORWARD),
]


@pytest.mark.parametrize(("made", "line"), LINES)
def test_line(made: Verdict, line: int) -> None:
    assert line_of(made, SOURCE) == line


def test_line_of_what_has_no_forward() -> None:
    assert line_of(verdict(), "import x\n\ndef kernel(x):\n    return x\n") == 3
    assert line_of(verdict(), "") == 1


def test_command() -> None:
    told = Annotation("error", "a: 50%, b", "one\r\ntwo: 5%", "x,y.py", 3)
    assert str(told) == "::error file=x%2Cy.py,line=3,title=a%3A 50%25%2C b::one%0D%0Atwo: 5%25"


def test_nothing_that_a_solution_says_is_a_command() -> None:
    hostile = verdict(
        Status.RAISED,
        entrant="x,line=1::\n::error::gotcha",
        reasons=("a\n::warning file=other.py::gotcha\r::set-env name=PATH::/evil",),
    )
    (told,) = annotate([record(hostile)], [], Settings(), Path("/repo"))
    text = str(told)
    assert "\n" not in text
    assert "\r" not in text
    properties = text.split("::")[1].removeprefix("error ")
    assert [each.partition("=")[0] for each in properties.split(",")] == ["file", "line", "title"]


def test_kinds_and_places() -> None:
    slow = verdict(Status.RIGHT, measurements=measured(0.8, 0.9))
    made = [
        verdict(),
        verdict(Status.NOT_BUILT),
        slow,
        verdict(Status.FAST, measurements=measured(1.8, 1.9)),
        verdict(Status.SKIPPED),
    ]
    found = annotate(map(record, made), [], Settings(), Path("/repo"))
    assert [each.level for each in found] == ["error", "error", "warning"]
    assert {each.file for each in found} == {"solutions/ann/019_relu.py"}
    assert found[2].message == "0.85x (0.80 to 0.90) against eager, shown to be below 1"
    (asked,) = annotate([record(slow)], [], Settings(thresholds=(1.5,)), Path("/repo"))
    assert (asked.level, asked.line) == ("error", FORWARD)
    change = Change(slow.title, Interval(0.8, 0.78, 0.82), paired=True)
    (gated,) = annotate([record(slow)], [SlowdownGate(change, 0.952)], Settings(), Path("/repo"))
    assert (gated.level, gated.message[:11]) == ("error", "gate FAILED")
    (elsewhere,) = annotate([record(verdict())], [], Settings(), Path("/other"))
    assert str(elsewhere).startswith("::error title=level1/019_relu by ann::wrong_value")


def test_no_more_than_github_shows() -> None:
    slow = verdict(Status.RIGHT, measurements=measured(0.8, 0.9))
    found = annotate([record(slow)] * 30 + [record(verdict())] * 30, [], Settings(), Path("/repo"))
    assert [each.level for each in found] == ["error"] * MOST + ["warning"] * MOST


def test_commands_are_stopped_under_a_name_that_nobody_knows() -> None:
    said: list[str] = []
    for _ in range(2):
        with commands_stopped(said.append):
            said.append("::error::from a solution")
    names = [line.removeprefix("::stop-commands::") for line in said[::3]]
    assert len(set(names)) == 2
    assert all(len(name) == 32 for name in names)
    assert said[2::3] == [f"::{name}::" for name in names]


def page(verdicts: list[Verdict], gates: list[Gate] | None = None) -> str:
    problems = {(1, number): "activation" for number in range(1, 101)}
    outcome = Outcome(verdicts, lambda _: problems, Settings())
    return "\n".join(markdown(outcome, gates or []))


def test_page() -> None:
    missed = ShareGate(Row(1, "ann", score([], [(1, 1)])), 1.0, 0.4, 0.5)
    fast = verdict(Status.FAST, agreed=True, measurements=measured(1.9, 2.1), number=3)
    text = page([fast, verdict()], [missed])
    lines = text.splitlines()
    assert lines[0] == "## Kernels"
    assert lines[2].startswith("- **gate FAILED")
    assert "| level | entrant | n | built | right | fast\\_1 | fast\\_2 | geomean | best |" in lines
    assert (
        "| 1 | ann | 100 | 2/2 | 1/2 | 0\\.010 | 0\\.000 | 2\\.00x \\(n=1\\) | 2\\.00x |" in lines
    )
    assert "| level1/019\\_relu by ann | wrong_value | 3 differ |" in lines


def test_page_ranks_several_entrants() -> None:
    fast = verdict(Status.FAST, agreed=True, measurements=measured(1.9, 2.1), entrant="bob")
    lines = page([fast, verdict()]).splitlines()
    start = lines.index("|  | entrant | n | built | right | fast\\_1 | fast\\_2 | geomean | best |")
    assert [line.split(" | ")[:2] for line in lines[start + 2 : start + 4]] == [
        ["| 1", "bob"],
        ["| 2", "ann"],
    ]


def test_page_is_bounded() -> None:
    text = page([verdict(number=number, reasons=("x" * 9999,)) for number in range(1, 101)])
    assert f"| and {100 - MOST_LISTED} more | | |" in text
    assert len(text) < 40_000


HOSTILE = ["<script>", "![x](http://e)", "a|b", "[a](b)", "`x`", "**b**", "@team", "a\n# b", "&lt;"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_nothing_but_text(text: str) -> None:
    safe = escaped(text)
    assert "\n" not in safe
    assert "<" not in safe
    assert not re.search(r"(?<!\\)[|`*\[\]()!@#]", safe)


def test_a_line_that_no_file_has_is_no_line() -> None:
    digits = "9" * 5000
    said = f'(line {digits} of the solution) 019_relu.py:{digits} 019_relu.py", line {digits}'
    assert line_of(verdict(detail=said), "class ModelNew:\n\n    def forward(self): ...\n") == 3
