"""Collect each solution as a module whose tests are ``kernel_tests``'s; import none of them."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.files import LOOKED_INTO
from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES
from pytest_kernelbench.collectors import SolutionModule, solution_collector
from pytest_kernelbench.state import PAIR, STATE, State
from pytest_kernelbench.texts import one_line

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Rows of a table of problems that are none: told of, and without effect on the rest."""
    catalog = config.stash[STATE].matchmaker.catalog
    if not any(root.suffix in TABLE_SUFFIXES for root in catalog.roots):
        return []
    _ = catalog.problems  # Has them read.
    return [f"kernelbench: {complaint}" for complaint in catalog.complaints]


class NotRunWarning(pytest.PytestWarning):
    """A file in a folder of solutions would have been run by pytest, and was not."""


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> None:
    """Refuse to enter a folder of solutions that brings a conftest.py or the like."""
    state = parent.config.stash[STATE]
    message = state.guard.refusal(path) or state.guard.refuse_way(path, state.named(parent.config))
    if message is not None:
        raise pytest.Collector.CollectError(message)
    for strange, why in state.guard.strange(path):
        _warn(f"{one_line(str(strange))} is not judged: {why}")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Put a solution in the place of whatever module claims its file."""
    collectors = yield
    state = parent.config.stash[STATE]
    territory = None
    if file_path.suffix in TABLE_SUFFIXES and file_path in state.named(parent.config):
        from pytest_kernelbench.archives import ArchiveFile

        return [*collectors, ArchiveFile.from_parent(parent, path=file_path)]
    known = file_path.suffix in LOOKED_INTO
    if not collectors and not known and not _adapted(state, file_path):
        return collectors
    if (refusal := state.guard.refuse_name(file_path)) is not None:
        raise pytest.Collector.CollectError(refusal)
    claim = state.matchmaker.claim(file_path, look_inside=False)
    if claim is None:
        territory = state.guard.territory(file_path.parent)
        named = _named_by_user(file_path, parent)
        if territory is not None or named:
            claim = state.matchmaker.claim(file_path, named=named)
    others = [c for c in collectors if not isinstance(c, pytest.Module)]
    if claim is not None:
        link = state.guard.refuse_link(file_path, state.named(parent.config))
        if link is not None:
            claim = Claim(claim.entrant, refusal=link)
        made = solution_collector(parent, file_path, claim)
        return others if made is None else [*others, made]
    if territory is None or len(others) == len(collectors):
        return collectors
    _warn(
        f"{file_path} is not run: {territory} is a folder of solutions, "
        "where nothing is run by pytest itself"
    )
    return others


def _warn(message: str) -> None:
    warnings.warn(NotRunWarning(message), stacklevel=1)


def _adapted(state: State, path: Path) -> bool:
    """Whether a plugin's adapter may know a file that is not Python."""
    return any(adapter(path) for adapter in state.matchmaker.adapters)


def _named_by_user(path: Path, parent: pytest.Collector) -> bool:
    """Whether the file or its folder is an argument, and the file is none of the user's tests."""
    named = parent.config.stash[STATE].named(parent.config)
    if path not in named and path.parent not in named:
        return False
    return not any(fnmatch(path.name, pattern) for pattern in parent.config.getini("python_files"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the problem a real parameter, so that it stands in the node id."""
    module = metafunc.definition.parent
    if not isinstance(module, SolutionModule) or "problem" not in metafunc.fixturenames:
        return
    problem, solution = module.pair.problem, module.pair.solution
    marks = [
        pytest.mark.kernel(
            level=problem.level,
            number=problem.number,
            problem=problem.name,
            entrant=solution.entrant,
            sample=solution.sample,
        )
    ]
    if metafunc.config.pluginmanager.hasplugin("benchmark"):
        from pytest_kernelbench.benchmarks import CLOCK

        marks.append(pytest.mark.benchmark(timer=CLOCK, group=f"level {problem.level}"))
    if metafunc.config.stash[STATE].must_fail(module.nodeid):
        from pytest_kernelbench.expectations import NotBuilt, NotRight

        why = "--kb-expect-failure"
        marks.append(pytest.mark.xfail(raises=(NotRight, NotBuilt), strict=True, reason=why))
    # The parameter is the id, not the Problem: pytest-benchmark writes parameters into its JSON.
    parameter = pytest.param(problem.id, id=problem.id, marks=marks)
    metafunc.parametrize("problem", [parameter], indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Know a pair's item by its stash from here on."""
    module = item.parent
    if isinstance(module, SolutionModule):
        item.stash[PAIR] = module.pair
