"""From verdicts to rows: one for each level and entrant, over the problems that were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.gates import Row
from pytest_kernelbench.score import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_kernelbench.score import Key, Score
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

    Asked = Callable[[int], Mapping[Key, str]]
    """A level's problems, each with its family of operators."""

COLUMNS = (1.0, 2.0)
"""The p that always have a column; the largest ``--kb-p`` joins them."""


def rows(verdicts: Iterable[Verdict], asked: Asked, settings: Settings) -> list[Row]:
    """In order of level and entrant.

    A level asked for by name, also by a gate, counts for every entrant, also for those who left it
    out.
    """
    found: dict[tuple[int, str], list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault((verdict.level, verdict.entrant), []).append(verdict)
    for entrant in {entrant for _, entrant in found}:
        for level in settings.scored_levels:
            found.setdefault((level, entrant), [])
    return [
        Row(level, entrant, _score(some, asked(level), settings))
        for (level, entrant), some in sorted(found.items())
    ]


def by_family(verdicts: Iterable[Verdict], asked: Asked, settings: Settings) -> list[Row]:
    """The same with a row for each family of operators: level, entrant, family, in that order."""
    every = list(verdicts)
    divided = []
    for row in rows(every, asked, settings):
        problems = asked(row.level)
        own = [v for v in every if (v.level, v.entrant) == (row.level, row.entrant)]
        for family in sorted(set(problems.values())):
            some = [key for key, kind in problems.items() if kind == family]
            divided.append(Row(row.level, row.entrant, _score(own, some, settings), family))
    return divided


def leaders(verdicts: Iterable[Verdict], asked: Asked, settings: Settings) -> list[Row]:
    """Entrants over all levels that somebody answered or that were asked for, best first.

    All on the same problems: a level that an entrant left out counts as not solved. Ordered by the
    share shown faster than the threshold, then by the share that is right, then by speedup.
    """
    every = list(verdicts)
    levels = sorted({verdict.level for verdict in every}.union(settings.scored_levels))
    problems = [key for level in levels for key in asked(level)]
    board = [
        Row(0, entrant, _score([v for v in every if v.entrant == entrant], problems, settings))
        for entrant in sorted({verdict.entrant for verdict in every})
    ]
    p = settings.threshold

    def standing(row: Row) -> tuple[float, float, float]:
        shares = row.score.share(p).value, row.score.share(0).value
        return (-shares[0], -shares[1], -(row.score.geomean or 0.0))

    return sorted(board, key=standing)


def _score(verdicts: Iterable[Verdict], problems: Iterable[Key], settings: Settings) -> Score:
    shares = (0.0, *thresholds(settings))
    return score(verdicts, problems, shares, settings.at_k, strict=settings.strict)


def thresholds(settings: Settings) -> tuple[float, ...]:
    """The p that get a column."""
    return tuple(dict.fromkeys(p for p in (*COLUMNS, settings.threshold) if p))
