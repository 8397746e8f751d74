"""Files beside a solution that belong to it: those it names, and those that these name.

Told before anything is built: a solution's hash must be known then, and what a build says that it
has read is the solution's own word. Never another solution: it would be an answer to copy.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog import mentions
from pytest_kernelbench.catalog.entry import FUNCTIONS, cpp_entry, python_entry, top_level_names
from pytest_kernelbench.catalog.files import CPP_SUFFIXES, LOOKED_INTO
from pytest_kernelbench.catalog.material import SOURCE_LIMIT_BYTES, source_text
from pytest_kernelbench.catalog.naming import parse
from pytest_kernelbench.catalog.nearby import changed_ns, listing
from pytest_kernelbench.catalog.problems import TABLE_SUFFIXES
from pytest_kernelbench.folders import lies_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_kernelbench.catalog.mentions import Mentions

SOURCES = frozenset(
    {".c", ".cc", ".cpp", ".cu", ".cubin", ".cuh", ".cxx", ".h", ".hh", ".hip", ".hpp", ".inl"}
    | {".ptx", ".so"}
)
"""Endings of what a solution may compile or load from beside its own file."""
MOST = 1024
_MOST_FOLDERS = 64
_TOOLS = re.compile(r"test_.*|.*_test|conftest|setup", re.IGNORECASE)
_ANSWERS = frozenset({"ModelNew", "Model", "custom_kernel", "get_inputs", "ref_kernel"})
"""What nobody defines in a helper: a solution's name, or a problem's."""
_IN_ANSWERS = ("ModelNew", "custom_kernel", "PYBIND11_MODULE")


def belongings(solution: Path) -> list[Path]:
    """The files below the solution's folder that belong to it, sorted; at most ``MOST``.

    No link that leads out of the folder.
    """
    taken: list[Path] = []
    said = [_mentions(solution)]
    refused: set[Path] = {solution}
    while len(taken) < MOST:
        near = [path for path in _within_reach(solution.parent, said) if path not in refused]
        fresh = [path for path in near if any(_is_named(path, each, solution) for each in said)]
        if not fresh:
            break
        refused.update(fresh)
        fresh = [path for path in fresh if _may_belong(path, solution)]
        taken += fresh
        said += [_mentions(path) for path in fresh]
    return sorted(taken[:MOST])


def belongs_to_a_solution(path: Path) -> bool:
    """Whether a Python solution in the file's folder, or in the one above, has it for its own."""
    return any(path in _all_belongings(_python_files(folder)) for folder in list(path.parents)[:2])


def lies_by_a_solution(path: Path) -> bool:
    """Whether there is a Python solution in the file's folder, or in one of the two above."""
    return any(_solutions(_python_files(folder)) for folder in list(path.parents)[:3])


@lru_cache(maxsize=64)
def _all_belongings(files: tuple[tuple[Path, int], ...]) -> frozenset[Path]:
    return frozenset(part for path in _solutions(files) for part in belongings(path))


@lru_cache(maxsize=64)
def _solutions(files: tuple[tuple[Path, int], ...]) -> tuple[Path, ...]:
    return tuple(path for path, _ in files if python_entry(_text(path)) is not None)


def _python_files(folder: Path) -> tuple[tuple[Path, int], ...]:
    """Each with the time of its change, so that what is remembered of it goes with it."""
    names, _ = listing(folder)
    found = [folder / name for name in names if name.endswith(".py")]
    return tuple((path, changed_ns(path)) for path in found if not _TOOLS.fullmatch(path.stem))


def _within_reach(top: Path, said: list[Mentions]) -> Iterator[Path]:
    """What lies in the folder, and in those below that are named: in no others.

    A kernel in a home directory must not have all of it walked through.
    """
    left, opened = [top], 0
    while left and opened < _MOST_FOLDERS:
        folder = left.pop()
        opened += 1
        files, folders = listing(folder)
        yield from (folder / name for name in files)
        left += [folder / name for name in folders if any(_speaks_of(each, name) for each in said)]


def _speaks_of(said: Mentions, folder: str) -> bool:
    return folder in said.names or folder in said.modules


def _is_named(path: Path, said: Mentions, solution: Path) -> bool:
    if path.name in said.names:
        return True
    if path.suffix == ".py":
        return path.stem in said.modules or (
            path.stem == "__init__" and path.parent.name in said.modules
        )
    return path.suffix in SOURCES and _fits(path, said, solution)


def _fits(path: Path, said: Mentions, solution: Path) -> bool:
    """Whether a source fits a pattern or an ending, and may be meant by it.

    In a folder that is named all may be. The solution's own folder may have sources of others: by
    their numbers, or one that can be entered by itself and is not asked for by a pattern.
    """
    by_pattern = any(fnmatch(path.name, each) for each in said.patterns)
    if not by_pattern and path.suffix not in said.endings:
        return False
    number = parse(path.stem).number
    if path.parent != solution.parent or number == parse(solution.stem).number is not None:
        return True
    return number is None and (by_pattern or not _binds_forward(path))


def _binds_forward(path: Path) -> bool:
    entry = cpp_entry(_text(path))
    return entry is not None and not entry.refusal


def _may_belong(path: Path, solution: Path) -> bool:
    """Whether it is a file in the solution's folder, and neither another solution nor a problem."""
    if not lies_in(solution.parent, path):
        return False
    path = path.resolve()  # A link is what it leads to.
    text, numbered = _text(path), parse(path.stem).number
    other = numbered is not None and numbered != parse(solution.stem).number
    if path.suffix == ".py":
        names = top_level_names(text)
        # Helpers have functions called run or forward, too.
        barred = _ANSWERS.union(FUNCTIONS) if other else _ANSWERS
        return names is not None and barred.isdisjoint(names)
    if path.suffix in CPP_SUFFIXES:
        return not (other and _binds_forward(path))
    if path.suffix in SOURCES:
        return True
    if path.stat().st_size > SOURCE_LIMIT_BYTES:
        return path.suffix not in LOOKED_INTO and path.suffix not in TABLE_SUFFIXES
    return path.suffix != ".parquet" and not any(word in text for word in _IN_ANSWERS)


def _mentions(path: Path) -> Mentions:
    return _read_mentions(path, changed_ns(path))


@lru_cache(maxsize=4096)
def _read_mentions(path: Path, _changed_at_ns: int) -> Mentions:
    if path.suffix == ".py":
        return mentions.of_python(_text(path))
    return mentions.of_cpp(_text(path) if path.suffix in SOURCES else "")


def _text(path: Path) -> str:
    try:
        return source_text(path)
    except OSError:
        return ""  # Whoever builds it will say why.
