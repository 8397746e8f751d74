"""Gathers verdicts in the process that reports, tells every plugin of them, and sums them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.reporting import verdict_of
from pytest_kernelbench.state import PAIR, STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_kernelbench.gates import Gate, Row
    from pytest_kernelbench.score import Key
    from pytest_kernelbench.verdict import Verdict


class Scoreboard:
    """One a session, alone or as xdist's controller, never in a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._state = config.stash[STATE]
        self.collected: dict[str, Key] = {}
        """Every pair that is to be judged: node id and problem."""
        self.verdicts: dict[str, Verdict] = {}
        self.strays = 0

    # Gathering

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know which pairs must end in a verdict; xdist's controller collects none itself."""
        for item in session.items:
            if (pair := item.stash.get(PAIR, None)) is not None:
                self.collected[item.nodeid] = (pair.problem.level, pair.problem.number)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The same from a worker's list of node ids, which is all that it sends."""
        for nodeid in ids:
            pair = self._state.pair_of(nodeid)
            if pair is not None:
                self.collected[nodeid] = (pair.problem.level, pair.problem.number)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdict off a report and let every plugin hear it."""
        if report.outcome not in ("passed", "failed", "skipped"):
            return  # "rerun": the pair will be judged again
        if report.when == "call" and report.nodeid.endswith("::answers_a_problem"):
            self.strays += 1
        verdict = verdict_of(report)
        if verdict is not None:
            self._config.hook.pytest_kernelbench_verdict(
                config=self._config, verdict=verdict, nodeid=report.nodeid
            )

    def pytest_kernelbench_verdict(self, verdict: Verdict, nodeid: str) -> None:
        """Keep it."""
        self.verdicts[nodeid] = verdict

    # Summing up

    @property
    def unjudged(self) -> list[str]:
        """Collected pairs without a verdict: none, unless the session was cut short."""
        return [nodeid for nodeid in self.collected if nodeid not in self.verdicts]

    def rows(self) -> list[Row]:
        """A row for each level and entrant, in that order."""
        from pytest_kernelbench.tally import rows

        return rows(self.verdicts.values(), self.asked, self._state.settings)

    def asked(self, level: int) -> list[Key]:
        """The level's problems that were asked for, answered or not: what shares are shares of."""
        chosen = self._state.settings.problems
        known = [
            (problem.level, problem.number)
            for problem in self._state.matchmaker.catalog.problems
            if problem.level == level
            and (not chosen or f"{problem.level}/{problem.number}" in chosen)
        ]
        # A problem may come with its solution and be in no root.
        return list(dict.fromkeys([*known, *(k for k in self.collected.values() if k[0] == level)]))

    # Ending

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A gate that is missed or a pair without an end fails a session that would have passed."""
        if session.config.option.collectonly or self._plans_only():
            return
        missed = self.unjudged or not all(gate.passed for gate in self._gates())
        if missed and session.exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _gates(self) -> list[Gate]:
        if not self.verdicts:
            return []
        from pytest_kernelbench.gates import gates

        return gates(self.rows(), self._state.settings)

    def _plans_only(self) -> bool:
        option = self._config.option
        return bool(getattr(option, "setuponly", False) or getattr(option, "setupplan", False))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table, what is missing from it, and the gates."""
        if self._config.option.collectonly or not (self.collected or self.strays):
            return
        terminalreporter.write_sep("=", "kernelbench")
        for line in self._table():
            terminalreporter.write_line(line)
        for line in self._losses():
            terminalreporter.write_line(line, red=True)
        for gate in self._gates():
            colour = {"green" if gate.passed else "red": True}
            terminalreporter.write_line(str(gate), **colour)

    def _table(self) -> Iterator[str]:
        from pytest_kernelbench.reports import terminal
        from pytest_kernelbench.tally import thresholds

        settings = self._state.settings
        if settings.build_only:
            failed = sum(verdict.status.value == "not_built" for verdict in self.verdicts.values())
            yield f"built {len(self.verdicts) - failed} of {len(self.verdicts)}; nothing was judged"
            return
        yield from terminal.table(self.rows(), thresholds(settings))
        yield from terminal.legend(settings.baselines[0])
        yield from self._circumstances()

    def _circumstances(self) -> Iterator[str]:
        """Where it was judged, how steady that place was, and how far its walls reach."""
        from pytest_kernelbench.reports import terminal
        from pytest_kernelbench.selftest.stamp import stamp

        judged = [verdict for verdict in self.verdicts.values() if verdict.device]
        places = {(v.device, v.size, v.dtype): v.device_uuid for v in judged}
        for (device, size, dtype), uuid in places.items():
            yield f"judged on {device}, {size} sizes, {dtype}"
            tested = stamp(self._state.settings.cache_dir, uuid)
            yield from terminal.sentence(tested or "no selftest here yet: kb selftest")
        for verdict in judged:
            if (control := verdict.control) is not None:
                yield from terminal.sentence(terminal.control(control))
        if missing := sorted({wall for verdict in judged for wall in verdict.missing_walls}):
            yield from terminal.sentence("reduced isolation: no " + "; no ".join(missing))

    def _losses(self) -> Iterable[str]:
        if self.strays:
            yield f"{self.strays} of the solutions cannot be paired with a problem"
        if self._plans_only():
            return
        if unjudged := self.unjudged:
            yield f"{len(unjudged)} of {len(self.collected)} pairs collected have no verdict:"
            yield from (f"  {nodeid}" for nodeid in unjudged[:10])
            if len(unjudged) > len(unjudged[:10]):
                yield f"  and {len(unjudged) - 10} more"
