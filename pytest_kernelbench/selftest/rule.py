"""How a verdict meets an expectation.

A cheat is handled if the verdict is the one due, if it is rejected for whatever reason, or, where
that is said to do, if it is accepted and its speedup is not shown (lower end of the interval) to be
more than it may be: the attack was made pointless. What was not built has attacked nothing, unless
its import is the attack. An honest kernel must get exactly what is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.selftest.table import Due
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from pytest_kernelbench.selftest.table import Case
    from pytest_kernelbench.verdict import Verdict


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    case: Case
    verdict: Verdict
    ok: bool
    judged: bool = True
    """False where this machine cannot run the case; ``ok`` then means nothing."""

    @property
    def expected(self) -> str:
        """What was due, in a word or two: ``reject or <= 1.15x``."""
        due = self.case.status.value.replace("_", " ")
        if self.case.neutralised_ok and self.case.max_speedup is not None:
            return f"{due} or <= {self.case.max_speedup:g}x"
        return due

    @property
    def speedup(self) -> str:
        """``1.02x (0.98 to 1.06)``, or nothing."""
        measured = self.verdict.measurement
        if measured is None:
            return ""
        return f"{measured.speedup:.2f}x ({measured.low:.2f} to {measured.high:.2f})"


def outcome(case: Case, verdict: Verdict) -> Outcome:
    """Hold a verdict against what the case must get."""
    if verdict.status is Status.SKIPPED:
        return Outcome(case, verdict, ok=True, judged=False)
    if verdict.status is Status.NOT_JUDGED:
        return Outcome(case, verdict, ok=False)
    return Outcome(case, verdict, ok=_meets(case, verdict))


def _meets(case: Case, verdict: Verdict) -> bool:
    if verdict.status is Status.NOT_BUILT and not case.at_import:
        return False
    if not verdict.status.right:
        return not case.honest
    if case.max_speedup is not None and verdict.faster_than(case.max_speedup):
        return False
    flagged = verdict.status is Status.NOT_A_KERNEL
    as_due = {
        Due.ACCEPT: not flagged,
        Due.FLAG: flagged,
        Due.ACCEPT_OR_FLAG: True,
        Due.REJECT: False,
    }[case.status]
    return as_due or (case.neutralised_ok and case.max_speedup is not None)
