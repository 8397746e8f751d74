"""What stands for a solution in pytest's tree: a module of our tests, or one failed item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.state import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from pytest_kernelbench.catalog.claim import Claim


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
        from pytest_kernelbench.texts import hanging, printable

        why = hanging(printable(self.why))
        if self.skipped:
            pytest.skip(why)
        pytest.fail(why, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where to look: the file."""
        return self.path, None, self.name


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
