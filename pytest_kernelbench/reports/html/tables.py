"""The tables of a page as text: scores, and two runs beside each other."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_kernelbench.reports.html.packing import change
from pytest_kernelbench.reports.terminal import times
from pytest_kernelbench.score import sample_of
from pytest_kernelbench.tally import rows, thresholds
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_kernelbench.gates import Row
    from pytest_kernelbench.reports.html.runs import Runs
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.score import Score
    from pytest_kernelbench.verdict import Verdict

_TOLD = frozenset({Status.FAST, Status.RIGHT})


@dataclass(frozen=True)
class Cell:
    """A figure, and what is said beside it in small letters."""

    value: str
    more: str = ""


@dataclass(frozen=True)
class Line:
    """An entrant on a level."""

    level: int
    entrant: str
    cells: tuple[Cell, ...]
    remarks: str = ""
    first: bool = False
    """Of its level."""


@dataclass(frozen=True)
class Board:
    """Heads and lines."""

    heads: tuple[str, ...]
    lines: tuple[Line, ...]


def board(outcome: Outcome) -> Board:
    """The scores, each share with its interval over problems."""
    columns = thresholds(outcome.settings)
    heads = ("n", "built", "right", *(f"fast_{p:g}" for p in columns), "by point", "geomean",
             "best", *(f"pass@{k}" for k in outcome.settings.at_k))  # fmt: skip
    made = rows(outcome.verdicts, outcome.asked, outcome.settings)
    lines = (
        Line(row.level, row.entrant, _cells(row.score, columns), _remarks(row.score))
        for row in made
    )
    return Board(heads, tuple(_with_firsts(lines)))


def _cells(score: Score, columns: Sequence[float]) -> tuple[Cell, ...]:
    shares = [score.share(p) for p in columns]
    return (
        Cell(str(score.n)),
        Cell(str(score.built), f"of {score.tried}"),
        Cell(str(score.right), f"of {score.tried}"),
        *(
            Cell(f"{share.value:.3f}", f"{share.interval[0]:.2f} to {share.interval[1]:.2f}")
            for share in shares
        ),
        Cell(f"{shares[0].by_point:.3f}", f"fast_{shares[0].p:g}"),
        Cell("-") if score.geomean is None else Cell(times(score.geomean), f"of {score.timed}"),
        Cell("-" if score.best is None else times(score.best)),
        *(Cell("-" if at.value is None else f"{at.value:.3f}") for at in score.pass_at),
    )


def _remarks(score: Score) -> str:
    counts = {"missing": score.missing} | {
        status.value: count for status, count in score.counts.items() if status not in _TOLD
    }
    counts["no speedup"] = score.right_untimed
    ordered = sorted(counts.items(), key=lambda each: -each[1])
    return ", ".join(f"{word} {count}" for word, count in ordered if count)


def _with_firsts(lines: Iterator[Line]) -> Iterator[Line]:
    level = None
    for line in lines:
        yield Line(line.level, line.entrant, line.cells, line.remarks, line.level != level)
        level = line.level


# Two runs

_CHANGES = ("faster", "slower", "fixed", "broke")


def beside(runs: Runs, outcome: Outcome) -> Board:
    """The first run and the last: scores as ``then -> now``, and what became of the same pairs."""
    settings, p = outcome.settings, outcome.settings.threshold
    sides = [runs.of(0), runs.of(-1)]
    then, now = (
        {(row.level, row.entrant): row
         for row in rows([each.verdict for each in side.values()], outcome.asked, settings)}
        for side in sides
    )  # fmt: skip
    pairs: dict[tuple[int, str], list[tuple[Verdict, Verdict]]] = {}
    for nodeid, record in sides[1].items():
        if nodeid in sides[0]:
            verdict = record.verdict
            both = (sides[0][nodeid].verdict, verdict)
            pairs.setdefault((verdict.level, verdict.entrant), []).append(both)
    keys = sorted(then.keys() | now.keys())
    heads = ("right", f"fast_{p:g}", "geomean", "same pairs", "times as fast", *_CHANGES)
    lines = (
        Line(*key, _beside(then.get(key), now.get(key), pairs.get(key, []), p)) for key in keys
    )
    return Board(heads, tuple(_with_firsts(lines)))


def _beside(
    then: Row | None, now: Row | None, pairs: Sequence[tuple[Verdict, Verdict]], p: float
) -> tuple[Cell, ...]:
    counts: Mapping[str, int] = Counter(change(*pair) for pair in pairs)
    return (
        _arrow(then, now, lambda score: str(score.right)),
        _arrow(then, now, lambda score: f"{score.share(p).value:.3f}"),
        _arrow(then, now, lambda score: times(score.geomean) if score.geomean else "-"),
        Cell(str(len(pairs))),
        _ratio(pairs),
        *(Cell(str(counts[word]) if counts[word] else "") for word in _CHANGES),
    )


def _arrow(then: Row | None, now: Row | None, word: Callable[[Score], str]) -> Cell:
    before, after = ("-" if row is None else word(row.score) for row in (then, now))
    return Cell(f"{before} \N{RIGHTWARDS ARROW} {after}")


def _ratio(pairs: Sequence[tuple[Verdict, Verdict]]) -> Cell:
    """Geometric mean of how many times as fast the same pairs have become."""
    logs = []
    for before, after in pairs:
        then, now = sample_of(before).speedup, sample_of(after).speedup
        if then is not None and now is not None:
            logs.append(math.log(now / then))
    return Cell(times(math.exp(fmean(logs))), f"of {len(logs)}") if logs else Cell("-")
