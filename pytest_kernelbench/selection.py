"""Which of the collected items stay, and in which order they run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.solutions import natural
from pytest_kernelbench.collectors import SolutionModule, StrayFile
from pytest_kernelbench.state import CHANGED, STATE

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_kernelbench.settings import Settings


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what was not asked for, and bring each folder's solutions into natural order."""
    settings = config.stash[STATE].settings
    changed = config.stash.get(CHANGED, None)
    unwanted = [
        item
        for item in items
        if not (_wanted(item, settings) and (changed is None or _differs(item, changed)))
    ]
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


def _differs(item: pytest.Item, changed: frozenset[Path]) -> bool:
    """Whether a solution or its problem changed; what is no kernel is no matter of this."""
    from pytest_kernelbench.catalog.changed import is_among, touches

    if isinstance(item.parent, StrayFile):
        return is_among(item.path, changed)
    if not isinstance(item.parent, SolutionModule):
        return True
    pair = item.parent.pair
    if is_among(item.path, changed) or is_among(pair.problem.path, changed):
        return True
    return touches(changed, pair.solution.path)


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
