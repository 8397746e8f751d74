"""What ``kernel_tests`` asks for, each a fixture of its own: from the pair to its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.state import PAIR, STATE

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
    config = request.config
    made = config.hook.pytest_kernelbench_engine(config=config, settings=kb_settings)
    if not hasattr(config, "workerinput"):
        # xdist's workers build side by side as it is, and do not know which pairs will be theirs.
        made.ahead(item.stash[PAIR] for item in request.session.items if PAIR in item.stash)
    yield made
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

    pair = Pair(problem, solution)
    return ended_well(request.node, lambda: engine.build(pair))


@pytest.fixture
def judge(engine: Engine) -> Callable[[Pair, Extension], Verdict]:
    """A function that judges a pair: agreement first, then time."""
    return engine.judge


@pytest.fixture
def verdict(
    request: pytest.FixtureRequest,
    kb_settings: Settings,
    extension: Extension,
    judge: Callable[[Pair, Extension], Verdict],
) -> Verdict:
    """How the pair ended; skipped or an error at setup where it could not be judged."""
    from pytest_kernelbench.judging import built_only, ended_well, reach

    pair = _pair(request)
    if kb_settings.build_only:
        return reach(request.node, built_only(pair))
    return reach(request.node, ended_well(request.node, lambda: judge(pair, extension)))


class WithoutBenchmark:
    """Stands in for ``benchmarks`` where pytest-benchmark is switched off."""

    @pytest.fixture
    def record_times(self) -> Callable[[Verdict], None]:
        """A function that forgets a verdict's times."""
        return lambda _verdict: None


def _pair(request: pytest.FixtureRequest) -> Pair:
    pair: Pair = request.node.stash[PAIR]
    return pair
