"""Files in other tools' formats, written when the session ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.unwritten import ReportWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict


def exports(settings: Settings) -> list[tuple[Path, Callable[[Path, Sequence[Verdict]], object]]]:
    """The files that were asked for, each with what writes it."""
    from pytest_kernelbench.reports import csv, eval_results, trace

    asked = (
        (settings.eval_results, eval_results.write),
        (settings.trace, trace.write),
        (settings.csv, csv.write),
    )
    return [(path, write) for path, write in asked if path is not None]


class Exporter(ReportWriter):
    """A plugin that hears verdicts and writes them all at the end; JSON records come as they do."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._verdicts: list[Verdict] = []

    def pytest_kernelbench_verdict(self, verdict: Verdict) -> None:
        """Keep it."""
        self._verdicts.append(verdict)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write every file; a disk that is full is said, and spoils no verdict."""
        for path, write in exports(self._settings):
            try:
                write(path, self._verdicts)
            except (OSError, UsageError) as error:
                self.unwritten(terminalreporter, path, error)
