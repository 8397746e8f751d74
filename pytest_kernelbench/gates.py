"""Gates over a whole session: what must be reached, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.score import Score
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


class Gate(Protocol):
    """Says in a line which it is, its value and its limit."""

    @property
    def passed(self) -> bool:
        """Whether the limit is kept."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Row:
    """One entrant on one level (0: on all of them), or on one family of its operators."""

    level: int
    entrant: str
    score: Score
    family: str = ""


@dataclass(frozen=True)
class ShareGate:
    """What was asked of one row, and what it reached."""

    row: Row
    p: float
    value: float
    limit: float

    @property
    def passed(self) -> bool:
        """Whether the limit is reached."""
        return self.value >= self.limit

    def __str__(self) -> str:
        """``gate FAILED: fast_1 on level 2, ann: 0.400, below 0.5 (n = 100)``."""
        verb = "passed" if self.passed else "FAILED"
        relation = "at least" if self.passed else "below"
        where = f"fast_{self.p:g} on level {self.row.level}, {self.row.entrant}"
        figures = f"{self.value:.3f}, {relation} {self.limit:g} (n = {self.row.score.n})"
        return f"gate {verb}: {where}: {figures}"


@dataclass(frozen=True)
class NobodysGate:
    """What was asked of a level, or of all (None), on which no solution is scored."""

    level: int | None
    p: float
    limit: float

    @property
    def passed(self) -> bool:
        """Nothing reaches no more than 0."""
        return self.limit <= 0

    def __str__(self) -> str:
        """``gate FAILED: fast_1 on level 2: no solution is scored, at least 0.5 is asked``."""
        verb = "passed" if self.passed else "FAILED"
        where = "" if self.level is None else f" on level {self.level}"
        return (
            f"gate {verb}: fast_{self.p:g}{where}: no solution is scored, "
            f"at least {self.limit:g} is asked"
        )


@dataclass(frozen=True)
class PairsGate:
    """``--kb-p`` asks each pair for itself: those that are right and not shown as fast fail."""

    p: float
    faster: int
    right: int

    @property
    def passed(self) -> bool:
        """Whether all that are right are shown to be as fast."""
        return self.faster == self.right

    def __str__(self) -> str:
        """``gate FAILED: right and shown to be above 1.5x: 2 of 3, each must be``."""
        verb = "passed" if self.passed else "FAILED"
        return (
            f"gate {verb}: right and shown to be above {self.p:g}x: {self.faster} of {self.right}, "
            "each must be"
        )


def pairs_gate(verdicts: Iterable[Verdict], settings: Settings) -> list[PairsGate]:
    """The gate of ``--kb-p``, if single pairs are asked at all."""
    p = settings.required_speedup
    if p is None:
        return []
    right = [
        verdict
        for verdict in verdicts
        if verdict.status.right and not (settings.strict and verdict.status is Status.NOT_A_KERNEL)
    ]
    return [PairsGate(p, sum(verdict.faster_than(p) for verdict in right), len(right))]


def gates(rows: Iterable[Row], settings: Settings) -> list[Gate]:
    """Every gate that ``--kb-fail-under`` sets, passed or not; each says a line at least."""
    single = dict(settings.fail_under_levels)
    p = settings.threshold
    asked: list[Gate] = []
    answered = set()
    for row in rows:
        answered.add(row.level)
        limit = single.get(row.level, settings.fail_under)
        if limit is not None:
            asked.append(ShareGate(row, p, row.score.share(p).value, limit))
    nobodys = [(level, limit) for level, limit in single.items() if level not in answered]
    asked += [NobodysGate(level, p, limit) for level, limit in nobodys]
    if settings.fail_under is not None and not answered:
        asked.append(NobodysGate(None, p, settings.fail_under))
    return asked
