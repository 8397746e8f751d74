"""The runs that a page is about: a file of records each, and what is the latest of each pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.reports.records import Record


@dataclass(frozen=True)
class Run:
    """A session's records."""

    label: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Past:
    """A record of a pair, and the run that it comes from."""

    run: int
    record: Record


@dataclass(frozen=True)
class Runs:
    """Runs in the order of time; a pair's latest record is the one that counts."""

    every: tuple[Run, ...]

    @cached_property
    def histories(self) -> dict[str, list[Past]]:
        """By node id, sorted by pair: all its records, the latest last."""
        found: dict[str, list[Past]] = {}
        for number, run in enumerate(self.every):
            for record in run.records:
                found.setdefault(record.nodeid, []).append(Past(number, record))
        order = sorted(found, key=lambda nodeid: (_place(found[nodeid][-1].record), nodeid))
        return {nodeid: found[nodeid] for nodeid in order}

    @cached_property
    def latest(self) -> list[Record]:
        """The record that counts of each pair, sorted by level, number, entrant and sample."""
        return [history[-1].record for history in self.histories.values()]

    @property
    def comparable(self) -> bool:
        """Whether the first run and the last have pairs in common: else they are parts of one."""
        return len(self.every) > 1 and bool(self.of(0).keys() & self.of(-1).keys())

    def of(self, number: int) -> dict[str, Record]:
        """One run's records by node id; within a run, too, the last one counts."""
        return {record.nodeid: record for record in self.every[number].records}


def _place(record: Record) -> tuple[int, int, str, int]:
    verdict = record.verdict
    return verdict.level, verdict.number, verdict.entrant, verdict.sample


def named(labels: Sequence[str]) -> list[str]:
    """Labels that differ: of files of the same name, the later get a number."""
    seen: dict[str, int] = {}
    made = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        made.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return made
