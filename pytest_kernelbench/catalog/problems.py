"""Problems, found by their paths: ``levelN/NNN_name.py`` below one of several roots."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEVEL_FOLDER = re.compile(r"level_?([0-9]+)", re.IGNORECASE)
NUMBERED_FILE = re.compile(r"([0-9]+)_(.+)\.py")


class ProblemCatalog:
    """All problems below some roots; where two hold the same number, the first root's is taken."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(roots)

    @cached_property
    def _by_number(self) -> dict[tuple[int, int], Problem]:
        found: dict[tuple[int, int], Problem] = {}
        for root in reversed(self.roots):
            found.update(_problems_below(root))
        return dict(sorted(found.items()))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """In order of level and number."""
        return tuple(self._by_number.values())

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Those that hold a problem."""
        return tuple(sorted({level for level, _ in self._by_number}))

    def get(self, level: int, number: int) -> Problem | None:
        """The problem of that level and number, if any root has it."""
        return self._by_number.get((level, number))

    def holds(self, path: Path) -> bool:
        """Whether a path lies below one of the roots."""
        return any(path.is_relative_to(root) for root in self.roots)

    def describe(self) -> str:
        """What was searched, for messages: ``/x/problems (levels 1, 2: 200 problems)``."""
        if not self.problems:
            inside = "no problems: files named levelN/NNN_name.py"
        else:
            levels = ", ".join(map(str, self.levels))
            inside = f"levels {levels}: {len(self.problems)} problems"
        return f"{', '.join(map(str, self.roots)) or 'nowhere'} ({inside})"


def _problems_below(root: Path) -> dict[tuple[int, int], Problem]:
    found: dict[tuple[int, int], Problem] = {}
    for problem in _walk(root):
        key = (problem.level, problem.number)
        if key in found:
            message = (
                f"{found[key].path} and {problem.path} are both problem "
                f"{problem.level}/{problem.number}: rename one of them"
            )
            raise UsageError(message)
        found[key] = problem
    return found


def _walk(root: Path) -> Iterator[Problem]:
    for folder in _names(root):
        level = LEVEL_FOLDER.fullmatch(folder)
        if level is None:
            continue
        for name in _names(root / folder):
            if match := NUMBERED_FILE.fullmatch(name):
                yield Problem(root / folder / name, int(level[1]), int(match[1]), match[2])


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
