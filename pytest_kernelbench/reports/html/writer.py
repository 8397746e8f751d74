"""The plugin behind ``--kb-html``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.html.runs import Run, Runs
from pytest_kernelbench.reports.records import Record, read, record
from pytest_kernelbench.reports.unwritten import ReportWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_kernelbench.reports.records import Asked
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


class HtmlWriter(ReportWriter):
    """Hears verdicts, and writes a page of them when the session ends."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        asked: Callable[[Verdict, str], Asked],
        outcome: Callable[[], Outcome],
    ) -> None:
        self._path = path
        self._settings = settings
        self._asked = asked
        self._outcome = outcome
        self._records: dict[str, Record] = {}

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Keep it, with its source as it is now."""
        self._records[nodeid] = record(nodeid, verdict, self._asked(verdict, nodeid))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the page; a disk that is full is said, and spoils no verdict."""
        if not self._records:
            return
        from pytest_kernelbench.reports.html.page import write

        try:
            write(self._path, self._runs(), self._outcome())
        except (OSError, UsageError) as error:
            self.unwritten(terminalreporter, self._path, error)
        else:
            terminalreporter.write_line(f"report: {self._path}")

    def _runs(self) -> Runs:
        """This session's, after the one that it is compared with, as far as both have the pairs."""
        now = Run("this session", tuple(self._records.values()))
        earlier = self._settings.compare
        if earlier is None:
            return Runs((now,))
        kept = tuple(each for each in read(earlier) if each.nodeid in self._records)
        return Runs((Run(earlier.stem, kept), now))
