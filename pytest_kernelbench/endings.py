"""Verdicts on pairs that the judge never saw to their end, whoever asked for them."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.errors import (
    BuildError,
    KernelbenchError,
    MissingNeedError,
    ProblemError,
    origins,
)
from pytest_kernelbench.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.catalog.pair import Pair

_STATUS_OF = ((BuildError, Status.NOT_BUILT), (ProblemError, Status.BAD_PROBLEM))
_MOST_WARNINGS = 8


def remarks(warnings: Sequence[str]) -> tuple[str, ...]:
    """What compilers warned of, as notes of a verdict: the first few of them."""
    shown = tuple(f"build: {warning}" for warning in warnings[:_MOST_WARNINGS])
    more = len(warnings) - len(shown)
    return (*shown, f"build: {more} more warnings, in the log") if more else shown


def ended(pair: Pair, status: Status, *reasons: str, **more: Any) -> Verdict:  # noqa: ANN401
    """A verdict on a pair, from what is known of it without a judge."""
    return Verdict(
        level=pair.problem.level,
        number=pair.problem.number,
        problem=pair.problem.name,
        entrant=pair.solution.entrant,
        solution=str(pair.solution.path),
        sample=pair.solution.sample,
        status=status,
        reasons=reasons,
        **more,
    )


def built_only(pair: Pair) -> Verdict:
    """Where nothing but a build was asked for, and it went well."""
    return ended(pair, Status.SKIPPED, "built; not judged (--kb-build-only)")


def ended_by(error: Exception, pair: Pair) -> Verdict:
    """What an exception of the engine says of a pair; a bug of ours is not held against anyone.

    Raises ``KeyboardInterrupt`` where that is what it came from.
    """
    log = str(getattr(error, "log", None) or "")
    if isinstance(error, MissingNeedError):
        return ended(pair, Status.SKIPPED, str(error), log=log)
    if isinstance(error, KernelbenchError):
        status = next((s for kind, s in _STATUS_OF if isinstance(error, kind)), Status.NOT_JUDGED)
        reason, detail = _headline(str(error))
        notes = remarks(error.warnings) if isinstance(error, BuildError) else ()
        return ended(pair, status, reason, detail=detail, log=log, notes=notes)
    if _was_stopped(error):
        raise KeyboardInterrupt from error
    return ended(
        pair,
        Status.NOT_JUDGED,
        f"the judge itself failed: {type(error).__name__}: {error}",
        detail="".join(traceback.format_exception(error)),
    )


def _was_stopped(error: Exception) -> bool:
    """Whether a Ctrl-C led to it.

    A second one while a lock is waited for leaves Python's own code at "release unlocked lock".
    """
    return any(isinstance(link, KeyboardInterrupt) for link in origins(error))


def _headline(text: str) -> tuple[str, str]:
    """One line that says what happened, and the rest: of a traceback, what was raised."""
    first, _, rest = text.partition("\n")
    if not first.startswith("Traceback"):
        return first, rest
    raised = (line for line in rest.splitlines() if line.strip() and not line.startswith(" "))
    return next(raised, first), text
