"""The pictures of a page, with the words that stand above each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.reports import curves, dots, plots
from pytest_kernelbench.reports.svg import SERIES
from pytest_kernelbench.score import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_kernelbench.reports.html.runs import Runs
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.verdict import Verdict

MOST_ROWS = 12
"""Histograms in a picture."""


@dataclass(frozen=True)
class Picture:
    """An SVG and its caption."""

    name: str
    words: str
    svg: str


def by_level(outcome: Outcome) -> dict[int, dict[str, list[Verdict]]]:
    """Verdicts by level and entrant, in order."""
    found: dict[int, dict[str, list[Verdict]]] = {}
    for verdict in sorted(outcome.verdicts, key=lambda each: (each.level, each.entrant)):
        found.setdefault(verdict.level, {}).setdefault(verdict.entrant, []).append(verdict)
    return found


def fast_p(outcome: Outcome, slots: Mapping[str, int]) -> list[Picture]:
    """A picture a level, all on the same scale."""
    strict = outcome.settings.strict
    timed = curves.speedups_of(outcome.verdicts, strict=strict)
    scale = curves.scale_of_p(max(timed, default=None))
    drawn = {}
    for level, entrants in by_level(outcome).items():
        asked = outcome.asked(level)
        groups = {e: grouped(found, asked, strict=strict) for e, found in entrants.items()}
        drawn[level] = [curves.fast_p_curve(e, slots[e], g, scale) for e, g in groups.items()]
    top = _top(
        value
        for some in drawn.values()
        for curve in some
        for value in (*curve.thin, *(curve.high if len(some) <= plots.MOST_BANDS else ()))
    )
    made = []
    for level, some in drawn.items():
        svg = plots.fast_p(some, f"fastp-{level}", f"fast_p over p on level {level}", top)
        words = f"fast_p of {len(outcome.asked(level))} problems"
        made.append(Picture(f"Level {level}", words, svg))
    return made


def _top(shares: Iterable[float]) -> float:
    """The end of an axis that has room for all: a tenth of the problems solved is no flat line."""
    most = max(shares, default=1.0)
    return next(top for top in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if most <= top or top == 1.0)


def speedups(outcome: Outcome, slots: Mapping[str, int]) -> list[Picture]:
    """A picture a level that has anything right and timed."""
    strict = outcome.settings.strict
    timed = curves.speedups_of(outcome.verdicts, strict=strict)
    reach = (min([*timed, 0.5]), max([*timed, 2.0]))
    made = []
    for level, entrants in by_level(outcome).items():
        found = [
            curves.spread(name, slots[name], some, strict=strict) for name, some in entrants.items()
        ]
        rows = sorted((each for each in found if each is not None), key=lambda row: row.slot)
        if not rows:
            continue
        title = f"Distribution of speedups on level {level}"
        svg = plots.speedups(rows[:MOST_ROWS], f"speedups-{level}", title, reach)
        more = len(rows) - MOST_ROWS
        some = f", the first {MOST_ROWS} of {len(rows)} entrants" if more > 0 else ""
        made.append(Picture(f"Level {level}", f"speedups{some}", svg))
    return made


def rooflines(runs: Runs, slots: Mapping[str, int]) -> list[Picture]:
    """A picture for each device and dtype."""
    made = []
    for number, roof in enumerate(dots.rooflines(_marked(runs, slots))):
        name = f"Roofline of {roof.device}, {roof.dtype}"
        svg = plots.roofline(roof.dots, roof.idle, roof.lines, f"roof-{number}", name)
        left_out = f"; the fastest samples, {roof.left_out} are left out" if roof.left_out else ""
        words = f"roofline, {roof.dtype}, {len(roof.dots) + len(roof.idle)} solutions{left_out}"
        made.append(Picture(roof.device, words, svg))
    return made


def two_runs(runs: Runs, slots: Mapping[str, int]) -> Picture | None:
    """Speedups of the same pairs in the first run and in the last."""
    earlier = {nodeid: record.verdict for nodeid, record in runs.of(0).items()}
    last = runs.of(-1)
    links = {nodeid: number for number, nodeid in enumerate(runs.histories)}
    later = {
        nodeid: dots.Marked(record.verdict, slots[record.verdict.entrant], f"#r{links[nodeid]}")
        for nodeid, record in last.items()
    }
    found, left_out = dots.against(earlier, later)
    if not found:
        return None
    labels = (runs.every[0].label, runs.every[-1].label)
    title = f"Speedups in {labels[0]} and {labels[1]}"
    words = f"{len(found)} pairs right and timed in both"
    words += f"; {left_out} that changed least are left out" if left_out else ""
    return Picture(title, words, plots.against(found, "two-runs", title, labels))


def _marked(runs: Runs, slots: Mapping[str, int]) -> Iterable[dots.Marked]:
    for number, record in enumerate(runs.latest):
        yield dots.Marked(record.verdict, slots[record.verdict.entrant], f"#r{number}")


def slots_of(entrants: Sequence[str], standing: Callable[[str], float]) -> dict[str, int]:
    """A series for each entrant: by name, or, where inks do not suffice, the best ones first."""
    if len(entrants) > SERIES:
        entrants = sorted(entrants, key=standing, reverse=True)
    return {entrant: slot for slot, entrant in enumerate(entrants)}
