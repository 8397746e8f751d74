"""What was asked for and could not be written: said in red, and the session does not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def fail(session: pytest.Session) -> None:
    """Fail a session that would have passed."""
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class ReportWriter:
    """A plugin that writes when the session ends."""

    _session: pytest.Session | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Know what to fail."""
        self._session = session

    def unwritten(
        self,
        terminalreporter: pytest.TerminalReporter,
        path: Path,
        error: Exception,
        *,
        asked: bool = True,
    ) -> None:
        """Say it; a disk that is full spoils no verdict, but what was asked for is not there."""
        terminalreporter.write_line(f"{path} could not be written: {error}", red=True)
        if asked and self._session is not None:
            fail(self._session)
