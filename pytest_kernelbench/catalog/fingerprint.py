"""Hashes of what a pair consists of: where they are the same, so is its verdict."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Pair, Problem, Solution

WHOLE_FOLDER = ("solution", "model_new")
"""A file of such a name has its folder to itself: everything in it belongs to the solution."""
SOURCES = frozenset(
    {".c", ".cc", ".cpp", ".cu", ".cubin", ".cuh", ".cxx", ".h", ".hh", ".hip", ".hpp", ".inl"}
    | {".ptx", ".so"}
)
"""Endings of what a solution may compile or load from beside its own file."""


def solution_hash(solution: Solution) -> str:
    """Of its file, its entry point and every file that it may build from; not of its name.

    Rather too many files than too few: a header that no solution of the folder includes makes them
    all be judged again, a header that was overlooked would keep a verdict that is no longer true.
    """
    path = solution.path
    digest = hashlib.sha256(_framed(solution.entry.encode()) + _framed(path.read_bytes()))
    for other in companions(path):
        digest.update(_framed(str(other.relative_to(path.parent)).encode(errors="replace")))
        digest.update(_framed(other.read_bytes()))
    return digest.hexdigest()


def problem_hash(problem: Problem) -> str:
    """Of its file."""
    return hashlib.sha256(problem.path.read_bytes()).hexdigest()


def hashes(pair: Pair) -> tuple[str, str]:
    """``(solution, problem)``; raises ``OSError`` where one of the files is gone."""
    return solution_hash(pair.solution), problem_hash(pair.problem)


def companions(path: Path) -> list[Path]:
    """The files beside a solution's own that belong to it, sorted."""
    if path.stem in WHOLE_FOLDER:
        found = [each for each in path.parent.rglob("*") if each.is_file() and each != path]
        return sorted(each for each in found if "__pycache__" not in each.parts)
    files, folders = _listing(path.parent, _changed_ns(path.parent))
    # No deeper: a kernel in a home directory must not drag all of it in.
    below = [_listing(folder, _changed_ns(folder))[0] for folder in folders]
    return sorted(chain(files, *below))


@lru_cache(maxsize=4096)
def _listing(folder: Path, _changed_at_ns: int) -> tuple[list[Path], list[Path]]:
    """Sources in a folder, and the folders in it; asked of the disk again once it has changed."""
    files, folders = [], []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith((".", "__")):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif Path(entry.name).suffix in SOURCES and entry.is_file():
                files.append(Path(entry.path))
    return files, folders


def _changed_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _framed(data: bytes) -> bytes:
    """With its length ahead, so that no two lists of parts look alike."""
    return b"%d:" % len(data) + data
