"""Regressions between sessions: whether a solution is shown to be slower than it was."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.timing.words import interval_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_kernelbench.gates import Gate
    from pytest_kernelbench.verdict import Measurement, Verdict

Name = tuple[int, int, str, int]
"""What stays the same of a pair while its source changes: level, number, entrant, sample."""


def name_of(verdict: Verdict) -> Name:
    """Of a verdict, in whatever file its solution lay."""
    return verdict.level, verdict.number, verdict.entrant, verdict.sample


@dataclass(frozen=True)
class Change:
    """How fast a solution is now, as a multiple of how fast it was."""

    title: str
    interval: Interval
    paired: bool
    """Timed in turns with its earlier source, or else by what both are to the baseline."""


@dataclass(frozen=True)
class SlowdownGate:
    """One solution that is shown to be slower than is allowed."""

    change: Change
    limit: float
    """As a multiple of how fast it was: 0.952 where 5 % more time are allowed."""
    passed: bool = False

    def __str__(self) -> str:
        """``gate FAILED: level1/019_relu by ann: 0.90x (0.88 to 0.92) of before, ...``."""
        told = interval_words(self.change.interval, (self.limit,))
        how = "timed in turns" if self.change.paired else "by speedups over the baseline"
        return (
            f"gate FAILED: speed of {self.change.title}: {told} of before, "
            f"below {self.limit:.3f} ({how})"
        )


@dataclass(frozen=True)
class ComparedGate:
    """All solutions that were compared."""

    file: str
    compared: int
    slower: int
    max_slowdown: float
    unchanged: int
    untold: int
    """Right and timed then; now they have no time that could be held against it."""

    @property
    def passed(self) -> bool:
        """Whether none is shown to be slower."""
        return not self.slower

    def __str__(self) -> str:
        """``gate passed: slower than in base.jsonl by more than 5 %: 0 of 12, at most 0``."""
        verb = "passed" if self.passed else "FAILED"
        more = [f"; {self.unchanged} unchanged"] if self.unchanged else []
        more += [f"; {self.untold} without a time to compare"] if self.untold else []
        return (
            f"gate {verb}: slower than in {self.file} by more than {self.max_slowdown * 100:g} %: "
            f"{self.slower} of {self.compared}, at most 0{''.join(more)}"
        )


def slowdown_gates(
    now: Iterable[Verdict], before: Mapping[Name, Verdict], file: str, max_slowdown: float
) -> list[Gate]:
    """A gate for each solution shown to be slower, and one that sums up."""
    limit = 1 / (1 + max_slowdown)
    changes, unchanged, untold = [], 0, 0
    for verdict in now:
        old = before.get(name_of(verdict))
        if old is None or old.measurement is None or not old.status.right:
            continue
        if same_source(verdict, old):
            unchanged += 1
        elif (change := change_of(verdict, old)) is None:
            untold += 1
        else:
            changes.append(change)
    slower = [SlowdownGate(change, limit) for change in changes if change.interval.below(limit)]
    summed = ComparedGate(file, len(changes), len(slower), max_slowdown, unchanged, untold)
    return [*slower, summed]


def same_source(one: Verdict, other: Verdict) -> bool:
    """Whether both are verdicts on the same solution of the same problem, as far as is known."""
    mine, theirs = one.provenance, other.provenance
    if mine is None or theirs is None or not mine.solution_sha256:
        return False
    return (mine.solution_sha256, mine.problem_sha256) == (
        theirs.solution_sha256,
        theirs.problem_sha256,
    )


def change_of(now: Verdict, before: Verdict) -> Change | None:
    """None where the two cannot be compared: one has no time, or the baselines differ."""
    if not now.status.right:
        return None
    paired = now.previous
    if paired is not None and _sound(paired):
        return Change(now.title, Interval(paired.speedup, paired.low, paired.high), paired=True)
    mine, theirs = now.measurement, before.measurement
    if mine is None or theirs is None or mine.baseline != theirs.baseline or unfit(now, before):
        return None
    if not (_sound(mine) and _sound(theirs)):
        return None
    return Change(now.title, ratio(mine, theirs), paired=False)


def ratio(now: Measurement, before: Measurement) -> Interval:
    """Of two speedups, each with its own interval: their errors join in quadrature."""
    center = now.speedup / before.speedup
    down = math.hypot(math.log(now.speedup / now.low), math.log(before.high / before.speedup))
    up = math.hypot(math.log(now.high / now.speedup), math.log(before.speedup / before.low))
    return Interval(center, center * math.exp(-down), center * math.exp(up))


def _sound(measured: Measurement) -> bool:
    numbers = (measured.low, measured.speedup, measured.high)
    return all(math.isfinite(number) and number > 0 for number in numbers)


def unfit(now: Verdict, before: Verdict) -> str:
    """Why times of these two say nothing of each other; empty if they do."""
    return next(_differences(Place.of(now), Place.of(before)), "")


@dataclass(frozen=True)
class Place:
    """What must be the same for times to be compared."""

    device: str
    torch: str
    dtype: str
    size: str

    @classmethod
    def of(cls, verdict: Verdict) -> Place:
        """Where a verdict was made."""
        torch = verdict.provenance.torch if verdict.provenance is not None else ""
        return cls(verdict.device, torch, verdict.dtype, verdict.size)


def _differences(now: Place, before: Place) -> Iterator[str]:
    for what in ("device", "torch", "dtype", "size"):
        mine, theirs = getattr(now, what), getattr(before, what)
        if mine != theirs:
            yield f"its {what} was {theirs or 'not recorded'}, and is {mine or 'not recorded'} now"


def refuse(path: Path, now: Iterable[Place], before: Sequence[Verdict]) -> None:
    """Raise ``UsageError`` where a file's times say nothing of those that are made here."""
    timed = [verdict for verdict in before if verdict.measurement is not None]
    if not timed:
        message = f"{path} holds no times to compare with: give the records of a session that timed"
        raise UsageError(message)
    for place in now:
        for was in {Place.of(verdict): None for verdict in timed}:
            if difference := next(_differences(place, was), ""):
                message = (
                    f"{path} cannot be compared with: {difference}; "
                    "make new records where both are the same"
                )
                raise UsageError(message)


def by_name(verdicts: Iterable[Verdict]) -> dict[Name, Verdict]:
    """The last one of each."""
    return {name_of(verdict): verdict for verdict in verdicts}
