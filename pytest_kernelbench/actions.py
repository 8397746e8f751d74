"""GitHub Actions: a summary on the job's page, and failures beside the lines they are about."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.reports.annotations import (
    annotate,
    checkout,
    commands_stopped,
    in_actions,
    summary_page,
)
from pytest_kernelbench.reports.markdown import write
from pytest_kernelbench.reports.records import record
from pytest_kernelbench.reports.summary import all_gates
from pytest_kernelbench.reports.unwritten import ReportWriter
from pytest_kernelbench.state import STATE

if TYPE_CHECKING:
    from pytest_kernelbench.scoreboard import Scoreboard


class Actions(ReportWriter):
    """A plugin of the process that reports."""

    def __init__(self, config: pytest.Config, scoreboard: Scoreboard) -> None:
        self._config = config
        self._settings = config.stash[STATE].settings
        self._scoreboard = scoreboard
        self._in_actions = in_actions()
        self._stopped = ExitStack()

    def _say(self, text: str) -> None:
        self._config.get_terminal_writer().line(text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """From here on nothing that is printed is a command."""
        super().pytest_sessionstart(session)
        if self._in_actions:
            self._stopped.enter_context(commands_stopped(self._say))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the pages."""
        page = summary_page()
        places = [(page, True)] if page is not None else []
        if self._settings.markdown is not None:
            places.append((self._settings.markdown, False))
        if not self._scoreboard.verdicts:
            return
        outcome = self._scoreboard.outcome()
        for path, append in places:
            try:
                write(path, outcome, all_gates(outcome), append=append)
            except OSError as error:
                self.unwritten(terminalreporter, path, error, asked=not append)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """After all else that is printed."""
        self._stopped.close()
        if not self._in_actions or not self._scoreboard.verdicts:
            return
        board = self._scoreboard
        records = [
            record(nodeid, verdict, board.asked_beside(verdict, nodeid))
            for nodeid, verdict in board.verdicts.items()
        ]
        gates = all_gates(board.outcome())
        for annotation in annotate(records, gates, self._settings, checkout()):
            self._say(str(annotation))
