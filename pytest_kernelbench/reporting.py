"""Puts each pair's verdict on its test report, which carries it to the process that reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench.state import HASHES, KNOWN, PAIR, STATE, VERDICT

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_kernelbench.verdict import Verdict

ATTRIBUTE = "kernelbench"
"""The attribute of a ``TestReport`` that holds ``Verdict.to_builtins()``.

pytest-xdist sends a report's ``__dict__`` as it is: plain builtins arrive, anything else ends the
session.
"""

TAKEN = "kernelbench_taken"
"""The attribute that says whether the verdict is one of an earlier session."""


def deliver(item: pytest.Item, verdict: Verdict) -> None:
    """Make ``verdict`` the item's, and give JUnit its properties."""
    if KNOWN not in item.stash:  # else all of this was done when it was judged
        verdict = _completed(item, verdict)
    from pytest_kernelbench.reports.junit import properties

    item.stash[VERDICT] = verdict
    item.user_properties.extend(properties(verdict))


def _completed(item: pytest.Item, verdict: Verdict) -> Verdict:
    """With what the judge does not know of: remarks, stored baselines, where it comes from."""
    state, pair = item.config.stash[STATE], item.stash[PAIR]
    if pair.solution.notes:
        verdict = replace(verdict, notes=(*pair.solution.notes, *verdict.notes))
    if state.stored_times is not None:
        verdict = state.stored_times.beside(verdict)
    before = item.stash.get(HASHES, None)
    if before is None or verdict.status.asked_again:
        return verdict
    from pytest_kernelbench.provenance import provenance

    return replace(verdict, provenance=provenance(pair, state.settings, before))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the verdict to the report that decides: the call's, or a setup's that did not pass."""
    report = yield
    pair = item.stash.get(PAIR, None)
    # A subtest's report comes through here too, as another class and also with when="call".
    if pair is None or type(report) is not pytest.TestReport:
        return report
    if report.when == "call" or (report.when == "setup" and not report.passed):
        verdict = item.stash.get(VERDICT, None) or _without_judge(item, call, report)
        setattr(report, ATTRIBUTE, verdict.to_builtins())
        setattr(report, TAKEN, KNOWN in item.stash)
        if report.skipped and isinstance(report.longrepr, tuple):
            # Else every skip points at our fixture, and pytest's summary folds them all into one.
            report.longrepr = (str(item.path), 1, report.longrepr[2])
    return report


def _without_judge(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> Verdict:
    """An item that ended before it was judged: skipped by a mark, or a user's fixture failed."""
    from pytest_kernelbench.endings import ended
    from pytest_kernelbench.reports.junit import properties
    from pytest_kernelbench.verdict import Status

    said = str(call.excinfo.value) if call.excinfo else ""
    status = Status.SKIPPED if report.skipped else Status.NOT_JUDGED
    verdict = ended(item.stash[PAIR], status, said or f"{report.when} {report.outcome}")
    report.user_properties.extend(properties(verdict))
    return verdict


def verdict_of(report: object) -> Verdict | None:
    """The verdict that a report carries, if it is a pair's deciding one."""
    plain: Any = getattr(report, ATTRIBUTE, None)
    if plain is None:
        return None
    from pytest_kernelbench.verdict import Verdict

    return Verdict.from_builtins(plain)


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str] | None:
    """Say the speedup, or how it failed; the category stays pytest's own."""
    plain: Any = getattr(report, ATTRIBUTE, None)
    if plain is None or report.skipped or report.outcome not in ("passed", "failed"):
        return None
    from pytest_kernelbench.untimed import NOT_ASKED, UNKNOWN, why_untimed
    from pytest_kernelbench.verdict import Status, Verdict

    status, measured = Status(plain["status"]), plain["measurements"]
    speed = f"{measured[0]['speedup']:.2f}x" if measured and status.right else ""
    if status.right and why_untimed(Verdict.from_builtins(plain)) not in ("", NOT_ASKED, UNKNOWN):
        speed = "no speedup"
    taken = "(recorded)" if getattr(report, TAKEN, False) else ""
    if report.passed:
        flag = status.value if status is Status.NOT_A_KERNEL else ""
        return "passed", ".", " ".join(filter(None, ("PASSED", speed, flag, taken)))
    if report.when == "setup":
        return "error", "E", f"ERROR {status.value} {taken}".rstrip()
    library = status is Status.NOT_A_KERNEL and config.stash[STATE].settings.strict
    why = status.value if library else speed or status.value
    return "failed", "F", f"FAILED {why} {taken}".rstrip()
