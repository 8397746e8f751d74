"""What ``kernel_tests`` asks for, each a fixture of its own: from the pair to its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.state import HASHES, KNOWN, PAIR, STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Problem, Solution
    from pytest_kernelbench.engine.protocol import Engine
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

# pytest reads this module in every run, before it knows whether there is anything to judge. What
# only a pair's item needs is therefore imported by the fixtures that use it.


@pytest.fixture(scope="session")
def kb_settings(pytestconfig: pytest.Config) -> Settings:
    """All ``--kb-*`` options and ini values."""
    return pytestconfig.stash[STATE].settings


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, kb_settings: Settings) -> Iterator[Engine]:
    """Where pairs are built and judged; made when the first pair asks for it."""
    from pytest_kernelbench.errors import KernelbenchError
    from pytest_kernelbench.judging import no_engine
    from pytest_kernelbench.provenance import hashes_of

    config = request.config
    try:
        made = config.hook.pytest_kernelbench_engine(config=config, settings=kb_settings)
    except KernelbenchError as error:
        no_engine(config, error)
    if not hasattr(config, "workerinput"):
        # xdist's workers build side by side as it is, and do not know which pairs will be theirs.
        stashes = [item.stash for item in request.session.items if _will_run(item)]
        coming = [stash for stash in stashes if KNOWN not in stash]
        for stash in coming:
            stash[HASHES] = hashes_of(stash[PAIR])
        made.ahead(stash[PAIR] for stash in coming)
    config.stash[STATE].engine = made
    yield made
    config.stash[STATE].engine = None
    made.close()


@pytest.fixture
def problem(request: pytest.FixtureRequest) -> Problem:
    """The problem that the collected file answers."""
    return _pair(request).problem


@pytest.fixture
def solution(request: pytest.FixtureRequest) -> Solution:
    """The collected file."""
    return _pair(request).solution


@pytest.fixture
def extension(
    request: pytest.FixtureRequest, problem: Problem, solution: Solution, engine: Engine
) -> Extension:
    """The solution, built; an error at setup if it cannot be."""
    if request.config.getoption("benchmark_skip", default=False):
        pytest.skip("--benchmark-skip")
    from pytest_kernelbench.judging import ended_well
    from pytest_kernelbench.provenance import hashes_of

    pair = Pair(problem, solution, _pair(request).earlier)
    if HASHES not in request.node.stash:
        request.node.stash[HASHES] = hashes_of(pair)
    return ended_well(request.node, lambda: engine.build(pair))


@pytest.fixture
def judge(engine: Engine) -> Callable[[Pair, Extension], Verdict]:
    """A function that judges a pair: agreement first, then time."""
    return engine.judge


@pytest.fixture
def verdict(
    request: pytest.FixtureRequest, kb_settings: Settings, problem: Problem, solution: Solution
) -> Verdict:
    """How the pair ended; skipped or an error at setup where it could not be judged.

    What an earlier session knows is asked of nobody: neither ``extension`` nor ``judge`` is made.
    """
    from pytest_kernelbench.endings import built_only
    from pytest_kernelbench.judging import ended_well, reach

    item, pair = request.node, Pair(problem, solution, _pair(request).earlier)
    if (known := item.stash.get(KNOWN, None)) is not None:
        return reach(item, known)
    extension: Extension = request.getfixturevalue("extension")
    judge: Callable[[Pair, Extension], Verdict] = request.getfixturevalue("judge")
    if kb_settings.build_only:
        return reach(item, built_only(pair))
    return reach(item, ended_well(item, lambda: judge(pair, extension)))


def _will_run(item: pytest.Item) -> bool:
    """Whether it is a pair that nobody has marked to be skipped: those are not built ahead."""
    skips = item.config.getoption("benchmark_skip", default=False)
    return PAIR in item.stash and not skips and item.get_closest_marker("skip") is None


class WithoutBenchmark:
    """Stands in for ``benchmarks`` where pytest-benchmark is switched off."""

    @pytest.fixture
    def record_times(self) -> Callable[[Verdict], None]:
        """A function that forgets a verdict's times."""
        return lambda _verdict: None


def _pair(request: pytest.FixtureRequest) -> Pair:
    pair: Pair = request.node.stash[PAIR]
    return pair
