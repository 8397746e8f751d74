"""Problems, found by their paths: ``levelN/NNN_name.py`` below one of several roots.

A root may also be a checkout of KernelBench, a folder of folders with a task each, a flat folder
of ``l1_p19.py``, or a table.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.naming import letters
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEVEL_FOLDER = re.compile(r"level_?([0-9]+)", re.IGNORECASE)
NUMBERED_FILE = re.compile(r"([0-9]+)_(.+)\.py")
TABLE_SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet")


class ProblemCatalog:
    """All problems below some roots; where two hold the same number, the first root's is taken.

    ``files`` are problems by themselves and go before any root. ``cache`` is where rows of tables
    get files of their own. ``option`` is the one that names roots, if there is one.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        files: Sequence[Path] = (),
        cache: Path = Path(".kernelbench"),
        option: str = "",
    ) -> None:
        self.roots = tuple(roots)
        self.files = tuple(files)
        self.complaints: list[str] = []
        """Rows of tables that are no problems, each with the reason; known once they were read."""
        self._cache = cache / "sources"
        self._option = option

    @cached_property
    def named(self) -> tuple[Problem, ...]:
        """The problems of ``files``, in their order."""
        if not self.files:
            return ()
        from pytest_kernelbench.catalog import problem_files

        return tuple(
            problem_files.problem_of_file(path, self._cache, number)
            for number, path in enumerate(self.files, start=1)
        )

    @property
    def only(self) -> Problem | None:
        """The problem that everything answers which names none: if a single one was named."""
        return self.named[0] if len(self.files) == 1 else None

    @cached_property
    def _by_number(self) -> dict[tuple[int, int], Problem]:
        found = {(problem.level, problem.number): problem for problem in self.named}
        for root in self.roots:
            taken = max((number for level, number in found if level == 0), default=0)
            for key, problem in self._below(root, taken + 1).items():
                found.setdefault(key, problem)
        return dict(sorted(found.items()))

    def _below(self, root: Path, first: int) -> dict[tuple[int, int], Problem]:
        """The problems of one root; those that have no number are counted from ``first``."""
        if root.suffix in TABLE_SUFFIXES and root.is_file():
            from pytest_kernelbench.catalog import problem_files

            rows = problem_files.problems_in_table(root, self._cache, self.complaints)
            return {(problem.level, problem.number): problem for problem in rows}
        found = _problems_below(root)
        if not found and _has_levels(root / "KernelBench"):
            found = _problems_below(root / "KernelBench")
        if not found and root.is_dir():
            from pytest_kernelbench.catalog import problem_files

            tasks = enumerate(problem_files.task_references(root), start=first)
            made = [problem_files.problem_of_file(path, self._cache, n) for n, path in tasks]
            made = made or problem_files.flat_problems(root)
            found = {(problem.level, problem.number): problem for problem in made}
        return found

    @cached_property
    def _by_letters(self) -> dict[str, list[Problem]]:
        found: dict[str, list[Problem]] = {}
        for problem in self._by_number.values():
            found.setdefault(letters(problem.name), []).append(problem)
        return found

    def called(self, name: str) -> list[Problem]:
        """The problems of that name, whatever its case and punctuation."""
        return self._by_letters.get(letters(name), [])

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

    @cached_property
    def _homes(self) -> tuple[Path, ...]:
        """The folders of levels: a checkout of KernelBench has one, and solutions beside it."""
        inner = (root / "KernelBench" for root in self.roots)
        return tuple(folder for folder in (*self.roots, *inner) if _has_levels(folder))

    def holds(self, path: Path) -> bool:
        """Whether a path lies in one of the folders of levels."""
        return any(path.is_relative_to(home) for home in self._homes)

    def describe(self) -> str:
        """What was searched, for messages: ``/x/problems (levels 1, 2: 200 problems)``."""
        if self.problems:
            levels = ", ".join(map(str, self.levels))
            places = ", ".join(map(str, (*self.files, *self.roots)))
            return f"{places} (levels {levels}: {len(self.problems)} problems)"
        nothing = ", ".join(f"{root} ({self.lack(root)})" for root in self.roots) or "nowhere"
        return nothing + (f"; {self._option}=DIR says where" if self._option else "")

    def lack(self, root: Path) -> str:
        """Why there can be no problem in a root; empty if there is one, or a table to be read."""
        if root.is_file():
            kinds = ", ".join(TABLE_SUFFIXES)
            return "" if root.suffix in TABLE_SUFFIXES else f"neither a folder nor one of {kinds}"
        if not root.exists():
            return "there is no such folder or file"
        return "" if self._below(root, 1) else "no problems: files named levelN/NNN_name.py"


def _has_levels(folder: Path) -> bool:
    return any(map(LEVEL_FOLDER.fullmatch, _names(folder)))


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
