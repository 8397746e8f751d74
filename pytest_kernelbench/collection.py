"""Collect each solution as a module whose tests are ``kernel_tests``'s; import none of them."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench.catalog.files import LOOKED_INTO
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES
from pytest_kernelbench.catalog.solutions import natural
from pytest_kernelbench.state import PAIR, STATE, State

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from types import ModuleType

    from pytest_kernelbench.catalog.claim import Claim
    from pytest_kernelbench.settings import Settings


class SolutionModule(pytest.Module):
    """A file that defines ``ModelNew``; its Python object is ours, the file is never imported."""

    pair: Pair

    def _getobj(self) -> ModuleType:
        # pytest documents that subclasses may give a collector another object this way.
        from pytest_kernelbench import kernel_tests

        return kernel_tests


class StrayFile(pytest.File):
    """A solution that cannot be judged: one failed item, which says why."""

    claim: Claim
    why: str
    skipped: bool = False

    def collect(self) -> Iterator[pytest.Item]:
        """One item, named by what is not so."""
        item: StrayItem = StrayItem.from_parent(self, name="answers_a_problem")
        item.why, item.skipped = self.why, self.skipped
        yield item


class StrayItem(pytest.Item):
    """Fails with the reason; is skipped where the reason is no fault of the solution."""

    why: str
    skipped: bool

    def runtest(self) -> None:
        """Fail, or skip."""
        if self.skipped:
            pytest.skip(self.why)
        pytest.fail(self.why, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where to look: the file."""
        return self.path, None, self.name


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
    message = parent.config.stash[STATE].guard.refusal(path)
    if message is not None:
        raise pytest.Collector.CollectError(message)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Put a solution in the place of whatever module claims its file."""
    collectors = yield
    state = parent.config.stash[STATE]
    territory = None
    if file_path.suffix in TABLE_SUFFIXES and parent.session.isinitpath(file_path):
        from pytest_kernelbench.archives import ArchiveFile

        return [*collectors, ArchiveFile.from_parent(parent, path=file_path)]
    known = file_path.suffix in LOOKED_INTO
    if not collectors and not known and not _adapted(state, file_path):
        return collectors
    claim = state.matchmaker.claim(file_path, look_inside=False)
    if claim is None:
        territory = state.guard.territory(file_path.parent)
        named = _named_by_user(file_path, parent)
        if territory is not None or named:
            claim = state.matchmaker.claim(file_path, named=named)
    others = [c for c in collectors if not isinstance(c, pytest.Module)]
    if claim is not None:
        made = solution_collector(parent, file_path, claim)
        return others if made is None else [*others, made]
    if territory is None or len(others) == len(collectors):
        return collectors
    warnings.warn(
        NotRunWarning(
            f"{file_path} is not run: {territory} is a folder of solutions, "
            "where nothing is run by pytest itself"
        ),
        stacklevel=1,
    )
    return others


def _adapted(state: State, path: Path) -> bool:
    """Whether a plugin's adapter may know a file that is not Python."""
    return any(adapter(path) for adapter in state.matchmaker.adapters)


def _named_by_user(path: Path, parent: pytest.Collector) -> bool:
    """Whether the file or its folder is an argument, and the file is none of the user's tests."""
    session = parent.session
    if not (session.isinitpath(path) or session.isinitpath(path.parent)):
        return False
    return not any(fnmatch(path.name, pattern) for pattern in parent.config.getini("python_files"))


def solution_collector(
    parent: pytest.Collector,
    path: Path,
    claim: Claim,
    **place: Any,  # noqa: ANN401 - as pytest's own constructors
) -> SolutionModule | StrayFile | None:
    """What stands for a solution; None if the trouble with it has been told of its whole folder.

    ``place`` is the name and the node id of a solution that is not all of its file.
    """
    state = parent.config.stash[STATE]
    claim = state.matchmaker.understood(path, claim)
    pair = state.matchmaker.pair(path, claim)
    if isinstance(pair, Pair):
        problem, solution = pair.problem, pair.solution
        key = (solution.entrant, problem.level, problem.number, solution.sample)
        shown = solution.origin or str(path)
        first = state.claimed.setdefault(key, shown)
        if first == shown:
            module: SolutionModule = SolutionModule.from_parent(parent, path=path, **place)
            module.pair = pair
            return module
        pair = (
            f"{first} is already sample {solution.sample} of {solution.entrant!r} "
            f"for {problem.id}: "
            "give this one another sample number, or its folder another name"
        )
    elif claim.folder_wide and state.told.setdefault(path.parent, path) != path:
        return None
    stray: StrayFile = StrayFile.from_parent(parent, path=path, **place)
    stray.claim, stray.why, stray.skipped = claim, pair, claim.skipped
    return stray


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
    # The parameter is the id, not the Problem: pytest-benchmark writes parameters into its JSON.
    parameter = pytest.param(problem.id, id=problem.id, marks=marks)
    metafunc.parametrize("problem", [parameter], indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Know a pair's item by its stash from here on."""
    module = item.parent
    if isinstance(module, SolutionModule):
        item.stash[PAIR] = module.pair


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what was not asked for, and bring each folder's solutions into natural order."""
    settings = config.stash[STATE].settings
    unwanted = [item for item in items if not _wanted(item, settings)]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        left = set(unwanted)
        items[:] = [item for item in items if item not in left]
    # Within a folder only: the order of arguments and folders is the user's.
    items[:] = [
        item
        for kernels, group in groupby(items, key=_folder_of_solutions)
        for item in (group if kernels is None else sorted(group, key=_natural))
    ]


def _folder_of_solutions(item: pytest.Item) -> Path | None:
    ours = isinstance(item.parent, SolutionModule | StrayFile)
    return item.path.parent if ours else None


def _natural(item: pytest.Item) -> tuple[tuple[int, int, str], ...]:
    return natural(item.path.name)


def _wanted(item: pytest.Item, settings: Settings) -> bool:
    level: int | None
    number: int | None
    if isinstance(item.parent, SolutionModule):
        problem, solution = item.parent.pair.problem, item.parent.pair.solution
        level, number, entrant = problem.level, problem.number, solution.entrant
    elif isinstance(item.parent, StrayFile):
        claim = item.parent.claim
        level, number, entrant = claim.level, claim.number, claim.entrant
    else:
        return True
    return (
        (level is None or not settings.levels or level in settings.levels)
        and (level is None or not settings.problems or f"{level}/{number}" in settings.problems)
        and (not settings.entrants or entrant in settings.entrants)
    )
