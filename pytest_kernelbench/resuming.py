"""``--kb-resume``: what an earlier session judged, and nothing has changed since, stays judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_kernelbench.engine.devices import alike
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.provenance import differences
from pytest_kernelbench.reports.records import latest
from pytest_kernelbench.reports.terminal import sentence
from pytest_kernelbench.state import KNOWN, PAIR, STATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.state import State
    from pytest_kernelbench.verdict import Verdict


class Resumption:
    """A plugin of every process: it marks what need not be judged, and tells how much that was.

    Reads the file when it is made, before the session adds to it. Raises ``UsageError``.
    """

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._state: State = config.stash[STATE]
        self._path = path
        self._is_new = not path.exists()
        if not self._is_new and not path.is_file():
            message = (
                f"{path} is no file, which could be read again: name another, or use --kb-json"
            )
            raise UsageError(message)
        self._told: list[str] = []
        records = {} if self._is_new else latest([path], self._told.append)
        self._verdicts = {nodeid: record.verdict for nodeid, record in records.items()}
        self._taken = 0
        self._again: Counter[str] = Counter()

    def pytest_report_header(self) -> list[str]:
        """Say what is gone on from: a name that was mistyped judges everything."""
        told = "is new" if self._is_new else f"holds {len(self._verdicts)} verdicts"
        lines = [f"resumes {self._path}, which {told}", *self._told]
        return [f"kernelbench: {line}" for line in lines]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Mark the items whose verdict stands."""
        for item in session.items:
            pair, known = item.stash.get(PAIR, None), self._verdicts.get(item.nodeid)
            if pair is not None and known is not None and not list(self._reasons(known, pair)):
                item.stash[KNOWN] = known

    def _reasons(self, known: Verdict, pair: Pair) -> Iterator[str]:
        """Why a pair must be judged again."""
        if known.status.asked_again:
            yield f"were {known.status.value}"
            return
        settings = self._state.settings
        devices = alike(settings.device) if settings.engine == "local" else None
        yield from differences(known, pair, settings, devices)

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Count, in the process that reports."""
        known = self._verdicts.get(nodeid)
        if known is None:
            return
        if known.provenance is not None and known.provenance == verdict.provenance:
            self._taken += 1
            return
        pair = self._state.pair_of(nodeid)
        reasons = list(self._reasons(known, pair)) if pair is not None else []
        self._again[", ".join(reasons) or "changed meanwhile"] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """How much was taken over, and why the rest was not."""
        if self._is_new or not (self._taken or self._again):
            return
        told = f"{self._taken} verdicts are of {self._path.name}"
        if self._again:
            why = "; ".join(f"{count}: {reason}" for reason, count in self._again.most_common())
            told += f"; {self._again.total()} pairs were judged again ({why})"
        for line in sentence(told):
            terminalreporter.write_line(line.strip())
