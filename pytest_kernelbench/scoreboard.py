"""Gathers verdicts in the process that reports, tells every plugin of them, and sums them up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.reporting import verdict_of
from pytest_kernelbench.state import PAIR, STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.gates import Gate
    from pytest_kernelbench.reports.records import Asked
    from pytest_kernelbench.reports.summary import Outcome
    from pytest_kernelbench.score import Key
    from pytest_kernelbench.verdict import Verdict


class Scoreboard:
    """One a session, alone or as xdist's controller, never in a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._state = config.stash[STATE]
        self.collected: dict[str, Problem] = {}
        """Every pair that is to be judged: node id and problem."""
        self.verdicts: dict[str, Verdict] = {}
        self._asked: dict[int, tuple[int, Mapping[Key, str]]] = {}
        self._selftests: dict[str, str] = {}
        self.strays = 0
        self._judges = False
        """Whether pairs are to be judged: else it was only asked what there is, or is planned."""

    # Gathering

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know which pairs must end in a verdict; xdist's controller collects none itself."""
        for item in session.items:
            if (pair := item.stash.get(PAIR, None)) is not None:
                self.collected[item.nodeid] = pair.problem
        self._show_progress()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The same from a worker's list of node ids, which is all that it sends."""
        for nodeid in ids:
            pair = self._state.pair_of(nodeid)
            if pair is not None:
                self.collected[nodeid] = pair.problem
        self._show_progress()

    def _show_progress(self) -> None:
        """Once there is something to show; most sessions have no pairs, and load nothing for it."""
        name = "kernelbench-progress"
        if not self.collected or self._config.pluginmanager.hasplugin(name):
            return
        from pytest_kernelbench import progress

        line = progress.make(self._config, self.collected)
        if line is not None:
            self._config.pluginmanager.register(line, name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Know that pairs are judged now: ``--fixtures`` and its like collect, and end there."""
        option = self._config.option
        only_said = ("collectonly", "setuponly", "setupplan")
        self._judges = not any(getattr(option, name, False) for name in only_said)

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

    def _scored(self) -> list[Verdict]:
        """What counts: a solution that is there to fail is nobody's entry."""
        must_fail = self._state.must_fail
        return [verdict for nodeid, verdict in self.verdicts.items() if not must_fail(nodeid)]

    def _meant_to_fail(self) -> list[Verdict]:
        must_fail = self._state.must_fail
        return [verdict for nodeid, verdict in self.verdicts.items() if must_fail(nodeid)]

    def asked(self, level: int) -> Mapping[Key, str]:
        """The level's problems that were asked for, answered or not, each with its family.

        They are what shares are shares of.
        """
        stand = len(self.collected)
        if (known := self._asked.get(level)) is not None and known[0] == stand:
            return known[1]
        from pytest_kernelbench.catalog.family import family

        chosen = self._state.settings.problems
        problems = [
            problem
            for problem in self._state.matchmaker.catalog.problems
            if problem.level == level
            and (not chosen or f"{problem.level}/{problem.number}" in chosen)
        ]
        # A problem may come with its solution and be in no root.
        problems += [problem for problem in self.collected.values() if problem.level == level]
        found = {(each.level, each.number): family(each) for each in reversed(problems)}
        self._asked[level] = stand, found
        return found

    def asked_beside(self, verdict: Verdict, nodeid: str) -> Asked:
        """What is written down beside a verdict."""
        from pytest_kernelbench.reports.records import Asked

        asked = self.asked(verdict.level)
        families = dict(sorted(Counter(asked.values()).items()))
        scored = not self._state.must_fail(nodeid)
        return Asked(len(asked), families, self._selftest(verdict.device_uuid), scored)

    def _selftest(self, device_uuid: str) -> str:
        if device_uuid not in self._selftests:
            from pytest_kernelbench.selftest.stamp import stamp

            said = stamp(self._state.settings.cache_dir, device_uuid)
            self._selftests[device_uuid] = said or ""
        return self._selftests[device_uuid]

    def outcome(self) -> Outcome:
        """What the summary and the gates are made of."""
        from pytest_kernelbench.reports.summary import Outcome

        scored = self._scored()
        return Outcome(
            scored,
            self.asked,
            self._state.settings,
            {uuid: self._selftest(uuid) for uuid in {v.device_uuid for v in scored}},
            verbose=self._config.option.verbose > 0,
            meant_to_fail=self._meant_to_fail(),
        )

    # Ending

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A gate that is missed or a pair without an end fails a session that would have passed."""
        if not self._judges:
            return
        missed = self.unjudged or not all(gate.passed for gate in self._gates())
        if missed:
            from pytest_kernelbench.reports.unwritten import fail

            fail(session)

    def _gates(self) -> list[Gate]:
        if not self.verdicts:
            return []
        from pytest_kernelbench.reports.summary import all_gates

        return all_gates(self.outcome())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table, what is missing from it, and the gates, also those that give way."""
        if not self._judges or not (self.collected or self.strays):
            return
        terminalreporter.write_sep("=", "kernelbench")
        refusal = self._state.refusal
        for line in refusal.splitlines():
            terminalreporter.write_line(line, red=True)
        for line in () if refusal and not self.verdicts else self._table():
            terminalreporter.write_line(line)
        for line in self._losses():
            terminalreporter.write_line(line, red=True)
        for gate in self._gates():
            colour = {"green" if gate.passed else "red": True}
            terminalreporter.write_line(str(gate), **colour)
        for line in self._state.overruled:
            terminalreporter.write_line(line, yellow=True)

    def _table(self) -> Iterator[str]:
        settings = self._state.settings
        if settings.build_only:
            failed = sum(verdict.status.value == "not_built" for verdict in self.verdicts.values())
            yield f"built {len(self.verdicts) - failed} of {len(self.verdicts)}; nothing was judged"
            return
        from pytest_kernelbench.reports.summary import summary

        yield from summary(self.outcome())

    def _losses(self) -> Iterable[str]:
        if self.strays:
            yield f"{self.strays} of the solutions cannot be paired with a problem"
        if self._state.refusal:
            return
        if unjudged := self.unjudged:
            yield f"{len(unjudged)} of {len(self.collected)} pairs collected have no verdict:"
            yield from (f"  {nodeid}" for nodeid in unjudged[:10])
            if len(unjudged) > len(unjudged[:10]):
                yield f"  and {len(unjudged) - 10} more"
