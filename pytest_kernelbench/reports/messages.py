"""What is said of a verdict that does not pass, in the words of a failed test."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from pytest_kernelbench.texts import hanging
from pytest_kernelbench.timing import words
from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.untimed import why_untimed
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.verdict import Measurement, Verdict

BUILD_NOTE = "build: "
"""Begins each note on what a compiler warned of."""
DETAIL_LIMIT = 16_000
"""Characters of detail in a message; people who feed messages to models ask for a cap."""


def faster_words(verdict: Verdict, p: float) -> str:
    """Why a right solution does not pass ``--kb-p``."""
    measured, why = verdict.measurement, why_untimed(verdict)
    told = f"it has no speedup: {why}"
    if measured is not None and not why:
        told = speedup_words(measured, p)
    return hanging(f"{verdict.title}: right, but {told}")


def speedup_words(measured: Measurement, p: float) -> str:
    """``1.48x (1.43 to 1.52) against eager, not shown to be above 1.5``."""
    interval = Interval(measured.speedup, measured.low, measured.high)
    told, claim = words.speedup_words(interval, (p,)).rsplit(", ", 1)
    return f"{told} against {measured.baseline}, {claim}"


def explain(verdict: Verdict) -> str:
    """The whole message of a failure: status, reasons, detail, and where the rest is.

    Every line that begins at its very left is one of ours.
    """
    return "\n".join(_lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    reasons = verdict.reasons or ("no reason was given",)
    yield hanging(f"{verdict.status.value}: {verdict.title}: {reasons[0]}")
    yield from (f"  {hanging(reason)}" for reason in reasons[1:])
    if verdict.detail:
        yield indent(shorten(verdict.detail.rstrip("\n")), "  ")
    yield from (hanging(f"note: {note}") for note in verdict.notes)
    if verdict.log and _build_spoke(verdict):
        yield hanging(f"whole output: {verdict.log}")


def _build_spoke(verdict: Verdict) -> bool:
    """Whether more than is told here stands in the log, which is the build's alone.

    What was judged was built: where it is ``not_built`` all the same, its import failed there.
    """
    warned = any(note.startswith(BUILD_NOTE) for note in verdict.notes)
    return warned or (verdict.status is Status.NOT_BUILT and not verdict.judge_s)


def shorten(text: str, limit: int = DETAIL_LIMIT) -> str:
    """Keep both ends of a long text: the first error stands early, the last words late."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n... {left_out} characters left out ...\n{tail}"
