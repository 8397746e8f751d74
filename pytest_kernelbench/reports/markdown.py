"""The summary for a page on the web: GitHub's flavour of Markdown, safe whatever solutions say."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from pytest_kernelbench.reports.summary import circumstances, without_speedup
from pytest_kernelbench.reports.terminal import figures
from pytest_kernelbench.tally import leaders, rows, thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_kernelbench.gates import Gate, Row
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.verdict import Verdict

MOST_LISTED = 50
"""Failures named one by one: GitHub takes a megabyte of summary a step."""
_REASON_LIMIT = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~@:])")


def write(path: Path, outcome: Outcome, gates: Sequence[Gate], *, append: bool = False) -> None:
    """Write the page; GitHub's own file is shared by all that a step runs, and added to."""
    with path.open("a" if append else "w", encoding="utf-8", errors="replace") as file:
        file.writelines(f"{line}\n" for line in markdown(outcome, gates))


def markdown(outcome: Outcome, gates: Sequence[Gate]) -> Iterator[str]:
    """Gates first: they are what a reader came for."""
    yield "## Kernels"
    yield ""
    if gates:
        yield from (f"- {_gate(gate)}" for gate in gates)
        yield ""
    shown = outcome.verdicts, outcome.asked, outcome.settings
    columns = thresholds(outcome.settings)
    made = rows(*shown)
    yield from _table(made, columns, ranked=False)
    if len({row.entrant for row in made}) > 1:
        yield from _table(leaders(*shown), columns, ranked=True)
    yield from _failures([v for v in outcome.verdicts if not v.status.right])
    yield "*n*: problems asked; *fast_p*: share of *n* right and more than *p* times as fast as "
    yield f"{escaped(outcome.baseline)}, by the lower end of the 95 % interval."
    yield ""
    told = (*without_speedup(outcome), *circumstances(outcome))
    yield from (f"{escaped(line.strip())}  " for line in told)


def _gate(gate: Gate) -> str:
    text = escaped(str(gate))
    return text if gate.passed else f"**{text}**"


def _table(made: Sequence[Row], columns: Sequence[float], *, ranked: bool) -> Iterator[str]:
    heads = ["n", "built", "right", *(f"fast_{p:g}" for p in columns), "geomean", "best"]
    first = ["", "entrant"] if ranked else ["level", "entrant"]
    yield f"| {' | '.join(map(escaped, [*first, *heads]))} |"
    yield f"|{'---|' * len(first)}{'---:|' * len(heads)}"
    for place, row in enumerate(made, start=1):
        cells = [str(place if ranked else row.level), row.entrant, *figures(row.score, columns)]
        yield f"| {' | '.join(map(escaped, cells))} |"
    yield ""


def _failures(failed: Sequence[Verdict]) -> Iterator[str]:
    if not failed:
        return
    yield "| not right | status | why |"
    yield "|---|---|---|"
    for verdict in failed[:MOST_LISTED]:
        reason = (verdict.reasons or ("",))[0][:_REASON_LIMIT]
        yield f"| {escaped(verdict.title)} | {verdict.status.value} | {escaped(reason)} |"
    if len(failed) > MOST_LISTED:
        yield f"| and {len(failed) - MOST_LISTED} more | | |"
    yield ""


def escaped(text: str) -> str:
    """Text that is nothing but text: names and messages are written by strangers."""
    plain = " ".join(text.split())
    return _SPECIAL.sub(r"\\\1", html.escape(plain, quote=False))
