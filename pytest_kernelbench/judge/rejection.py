"""How judging a pair ends early."""

from __future__ import annotations

import contextlib
import traceback
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import BY_DATA
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator


class StoodDown(Exception):  # noqa: N818 - not an error: an outcome
    """What stands in the baseline's place is not fit to be timed against; says why."""


class Rejected(Exception):  # noqa: N818 - not an error: an outcome
    """The solution (or the problem) is not right; carries what the verdict will say."""

    def __init__(
        self, status: Status, reason: str, detail: str = "", notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.notes = notes

    def because(self, why: str) -> Rejected:
        """The same, with the ground on which it was tried."""
        return Rejected(self.status, f"{self.reason} ({why})", self.detail, self.notes)


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Reject a solution on whose answers the judge itself fails.

    While a solution runs, its answers are what this code is least likely to have had before: it
    judges the reference, too, but not always first. If what follows were nobody's fault, a solution
    could choose not to be judged; the traceback tells where the fault is ours. Faults of the
    machine (``OSError``, ``MachineError``) stay the machine's.
    """
    try:
        yield
    except BY_DATA as error:
        reason = f"the judge can make no sense of its answers ({type(error).__name__}: {error})"
        trace = "".join(traceback.format_exception(error))
        raise Rejected(Status.CRASHED, " ".join(reason.split())[:2000], trace[-16_000:]) from error
