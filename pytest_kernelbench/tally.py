"""From verdicts to rows: one for each level and entrant, over the problems that were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.gates import Row
from pytest_kernelbench.score import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_kernelbench.score import Key
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

COLUMNS = (1.0, 2.0)
"""The p that always have a column; the largest ``--kb-p`` joins them."""


def rows(
    verdicts: Iterable[Verdict], asked: Callable[[int], Sequence[Key]], settings: Settings
) -> list[Row]:
    """In order of level and entrant. ``asked`` gives a level's problems.

    A level asked for by name counts for every entrant, also for those who left it out.
    """
    found: dict[tuple[int, str], list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault((verdict.level, verdict.entrant), []).append(verdict)
    for entrant in {entrant for _, entrant in found}:
        for level in settings.levels:
            found.setdefault((level, entrant), [])
    shares = (0.0, *thresholds(settings))
    strict, at_k = settings.strict, settings.at_k
    return [
        Row(level, entrant, score(some, asked(level), shares, at_k, strict=strict))
        for (level, entrant), some in sorted(found.items())
    ]


def thresholds(settings: Settings) -> tuple[float, ...]:
    """The p that get a column."""
    return tuple(dict.fromkeys(p for p in (*COLUMNS, settings.threshold) if p))
