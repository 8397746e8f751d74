"""``--kb-html`` and ``kb report --html``: the whole page, which loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime, timezone
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_kernelbench import __version__
from pytest_kernelbench.reports import plots, svg
from pytest_kernelbench.reports.controls import control_line
from pytest_kernelbench.reports.html import pictures, tables
from pytest_kernelbench.reports.html.packing import Packed, entrants_of, pack
from pytest_kernelbench.reports.summary import all_gates, walls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from markupsafe import Markup

    from pytest_kernelbench.reports.html.runs import Runs
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.verdict import Verdict

MOST_BYTES = 10_000_000
"""Of a page: larger ones take long to open, and mail and CI refuse them."""
_ROOM_BYTES = 400_000
"""For style, script and tables."""
_SCRIPTS = ("data.js", "table.js", "pair.js", "main.js")


def write(path: Path, runs: Runs, outcome: Outcome) -> None:
    """Write the page; raises ``OSError`` where that is not possible."""
    path.write_text(page(runs, outcome), encoding="utf-8", errors="replace", newline="\n")


def page(runs: Runs, outcome: Outcome) -> str:
    """Everything about some runs; ``outcome`` is what their latest verdicts come to."""
    from jinja2 import Environment, StrictUndefined

    entrants = entrants_of(runs.latest)
    slots = pictures.slots_of(entrants, _standing(outcome))
    names = sorted(slots, key=lambda name: slots[name])
    style, script = svg.style() + _text("page.css"), _script()
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    comparison = _comparison(runs, outcome, slots) if runs.comparable else None
    curves, roofs = pictures.fast_p(outcome, slots), pictures.rooflines(runs, slots)
    several = len(curves) > 1
    others = [*pictures.speedups(outcome, slots), *roofs]
    drawn = sum(len(picture.svg) for picture in (*curves, *others))
    drawn += len(comparison["svg"] or "") if comparison is not None else 0
    packed = pack(runs, entrants, MOST_BYTES - drawn - _ROOM_BYTES)
    return environment.from_string(_text("page.html")).render(
        policy=_policy(style, script),
        style=_ours(style),
        script=_ours(script),
        title="Kernel report",
        lede=_lede(runs, outcome),
        legend=_ours(plots.legend(names)),
        curves=_marked_up(curves if several else [*curves, *others]),
        others=_marked_up(others if several else []),
        bands=min(map(len, pictures.by_level(outcome).values()), default=0) <= plots.MOST_BANDS,
        baseline=outcome.baseline,
        board=tables.board(outcome),
        key={name: _ours(plots.key(slot)) for name, slot in slots.items()},
        gates=[{"text": str(gate), "passed": gate.passed} for gate in all_gates(outcome)],
        roofs=bool(roofs),
        comparison=comparison,
        facts=list(_facts(runs, outcome)),
        packed=packed,
        left_out=_left_out(packed),
    )


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _script() -> str:
    body = "".join(map(_text, _SCRIPTS))
    return f'"use strict";(() => {{\n{body}}})();'


def _policy(style: str, script: str) -> str:
    """Only this style and this script, and no network: whatever an author got into the page."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _ours(text: str) -> Markup:
    """Markup that we made ourselves, names within it escaped by who made it."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - see above


def _marked_up(found: Iterable[pictures.Picture]) -> list[dict[str, str]]:
    return [{"name": p.name, "words": p.words, "svg": _ours(p.svg)} for p in found]


def _standing(outcome: Outcome) -> Any:  # noqa: ANN401
    from pytest_kernelbench.tally import leaders

    order = [row.entrant for row in leaders(outcome.verdicts, outcome.asked, outcome.settings)]
    ranks = {entrant: -place for place, entrant in enumerate(order)}
    return lambda entrant: ranks.get(entrant, -len(ranks))


# Words


def _lede(runs: Runs, outcome: Outcome) -> str:
    pairs, entrants = len(runs.latest), len(entrants_of(runs.latest))
    problems = len({(r.verdict.level, r.verdict.number) for r in runs.latest})
    places = sorted({_place(verdict) for verdict in outcome.verdicts if verdict.device})
    where = f", judged on {' and on '.join(places)}" if places else ""
    return (
        f"{_count(pairs, 'pair')} of {_count(problems, 'problem')} with solutions by "
        f"{_count(entrants, 'entrant')}{where}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _place(verdict: Verdict) -> str:
    return f"{verdict.device}, {verdict.size} sizes, {verdict.dtype}"


def _facts(runs: Runs, outcome: Outcome) -> Iterator[tuple[str, Sequence[str]]]:
    """Where it was judged, how steady that place was, and how far its walls reach."""
    verdicts = outcome.verdicts
    now = datetime.now(timezone.utc)
    yield (
        "Files of records",
        [f"{run.label}: {_count(len(run.records), 'record')}" for run in runs.every],
    )
    judged = sorted(v.provenance.judged_at for v in verdicts if v.provenance is not None)
    if judged:
        yield "Judged", [f"{_minute(judged[0])} to {_minute(judged[-1])} UTC"]
    controls = [control_line(v.control) for v in verdicts if v.control is not None]
    yield "A/A control", list(dict.fromkeys(controls)) or ["none was measured"]
    stamps = [stamp for stamp in outcome.selftests.values() if stamp]
    yield "Selftest", stamps or ["none on this device yet: kb selftest"]
    yield "Walls around every solution", walls(verdicts) or ["none"]
    missing = sorted({wall for verdict in verdicts for wall in verdict.missing_walls})
    yield "Walls that could not be raised", missing or ["none"]
    torches = sorted({v.provenance.torch for v in verdicts if v.provenance is not None})
    if torches:
        yield "torch", torches
    yield "Made by", [f"pytest-kernelbench {__version__}, {now:%Y-%m-%d %H:%M} UTC"]


def _minute(at: str) -> str:
    """Of an ISO 8601 time."""
    return at[:16].replace("T", " ")


def _left_out(packed: Packed) -> str:
    if not packed.left_out:
        return ""
    return (
        f"To keep this page below 10 MB it lacks the sources of {packed.left_out:,} pairs; "
        "`kb report` with --level or --entrant leaves room for them."
    )


def _comparison(runs: Runs, outcome: Outcome, slots: Mapping[str, int]) -> dict[str, Any]:
    picture = pictures.two_runs(runs, slots)
    first, last = runs.every[0].label, runs.every[-1].label
    gone = len(runs.of(0).keys() - runs.of(-1).keys())
    words = [f"First {first}, then {last}."]
    if picture is not None:
        words.append(
            f"The picture has {picture.words}; the thin lines are 5 % apart from no change."
        )
    if gone:
        are = "is" if gone == 1 else "are"
        words.append(f"{_count(gone, 'pair')} of the first run {are} not in the last.")
    words.append("Faster and slower count the pairs whose 95 % intervals lie apart.")
    return {
        "words": " ".join(words),
        "svg": None if picture is None else _ours(picture.svg),
        "board": tables.beside(runs, outcome),
    }
