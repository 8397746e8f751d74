"""How judging a pair ends early."""

from __future__ import annotations

from pytest_kernelbench.verdict import Status


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
