"""What is right and has no speedup, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.score import sample_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_kernelbench.verdict import Measurement, Verdict

_NOT_TIMED = "not timed against "
"""Begins the note on a baseline with which there is no measurement (``judge.referee``)."""
_EARLIER = "its earlier source: "
"""What follows where that note is about ``--kb-compare``."""
_UNCONFIRMED = "not confirmed in new processes"
_STOPPED = "stopped: "
"""Begin notes of a measurement: why it claims nothing, and why it ended, which is no refusal."""
NOT_ASKED = "no time was asked for"
UNKNOWN = "no time is recorded, and no reason"


@dataclass(frozen=True)
class Untimed:
    """A reason with those it holds for, in the order in which they were judged."""

    reason: str
    verdicts: tuple[Verdict, ...]


def untimed(verdicts: Iterable[Verdict], *, strict: bool = False) -> list[Untimed]:
    """The reasons, the most frequent first."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if reason := why_untimed(verdict, strict=strict):
            found.setdefault(_gist(reason), []).append(verdict)
    ordered = sorted(found.items(), key=lambda each: -len(each[1]))
    return [Untimed(reason, tuple(some)) for reason, some in ordered]


def why_untimed(verdict: Verdict, *, strict: bool = False) -> str:
    """Why a right solution has no speedup; empty if it has one, or is not right."""
    sample = sample_of(verdict, strict=strict)
    if not sample.agreed or sample.speedup is not None:
        return ""
    if not verdict.status.right:
        return f"{verdict.status.value} when it was timed"
    if verdict.measurement is not None:
        return refusal(verdict.measurement)
    notes = (note.partition(_NOT_TIMED) for note in verdict.notes)
    refused = (said for before, found, said in notes if found and not before)
    against = (said for said in refused if not said.startswith(_EARLIER))
    if said := next(against, ""):
        return said.partition(": ")[2]
    asked = verdict.provenance is None or not verdict.provenance.settings.get("correctness_only")
    return UNKNOWN if asked else NOT_ASKED


def refusal(measured: Measurement) -> str:
    """Why nothing is concluded from times that there are: the first note, or the last says so.

    Only of a measurement that claims nothing.
    """
    if measured.low > 0:
        return "its speedup is no ratio of two times"
    notes = [note for note in measured.notes if not note.startswith(_STOPPED)]
    if unconfirmed := [note for note in notes if note.startswith(_UNCONFIRMED)]:
        return unconfirmed[0]
    few = not notes or not math.isfinite(measured.high)
    return "too few turns for an interval" if few else notes[0]


def _gist(reason: str) -> str:
    """Without the figures, which differ from pair to pair: what is wrong, and what to do."""
    what, colon, why = reason.partition(": ")
    _, semicolon, then = why.rpartition("; ")
    return f"{what}; {then}" if colon and semicolon else what
