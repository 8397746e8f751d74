"""Hashes of what a pair consists of: where they are the same, so is its verdict."""

from __future__ import annotations

import hashlib
import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.belongings import SOURCES, belongings
from pytest_kernelbench.catalog.material import SOURCE_LIMIT_BYTES
from pytest_kernelbench.catalog.nearby import listing
from pytest_kernelbench.folders import lies_in, read_file

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Pair, Problem, Solution

_HASHED_BYTES = 256 << 20
"""Of all files beside a solution."""
WHOLE_FOLDER = ("solution", "model_new")
"""A file of such a name has its folder to itself: everything in it belongs to the solution."""


def solution_hash(solution: Solution) -> str:
    """Of its file, its entry point and every file that it may build from; not of its name.

    Rather too many files than too few: a header that no solution of the folder includes makes them
    all be judged again, a header that was overlooked would keep a verdict that is no longer true.
    """
    path = solution.path
    own = read_file(path, SOURCE_LIMIT_BYTES)
    digest = hashlib.sha256(_framed(solution.entry.encode()) + _framed(own))
    left_bytes = _HASHED_BYTES
    for other in companions(path):
        contents = _contents(other, path.parent, left_bytes)
        left_bytes -= len(contents)
        digest.update(_framed(str(other.relative_to(path.parent)).encode(errors="replace")))
        digest.update(_framed(contents))
    return digest.hexdigest()


def _contents(path: Path, folder: Path, most_bytes: int) -> bytes:
    """Of a companion; of one that is too long, or lies elsewhere, what tells that it has changed.

    A hash of what a link leads to would tell a reader of records what it is.
    """
    if not lies_in(folder, path):
        return os.fsencode(os.path.realpath(path))
    found = path.stat()
    if found.st_size > most_bytes:
        return b"%d bytes of %d" % (found.st_size, found.st_mtime_ns)
    return read_file(path, most_bytes)


def problem_hash(problem: Problem) -> str:
    """Of its file."""
    return hashlib.sha256(problem.path.read_bytes()).hexdigest()


def hashes(pair: Pair) -> tuple[str, str]:
    """``(solution, problem)``; raises ``OSError`` where one of the files is gone."""
    return solution_hash(pair.solution), problem_hash(pair.problem)


def companions(path: Path) -> list[Path]:
    """The files beside a solution's own that belong to it, or may, sorted.

    All that a runner finds beside it is among them; see ``judge.staging``.
    """
    if path.stem in WHOLE_FOLDER:
        found = [each for each in path.parent.rglob("*") if each.is_file() and each != path]
        return sorted(each for each in found if "__pycache__" not in each.parts)
    _, folders = listing(path.parent)
    # No deeper: a kernel in a home directory must not drag all of it in.
    near = [path.parent, *(path.parent / name for name in folders if not name.startswith("__"))]
    return sorted({*chain.from_iterable(map(_sources, near)), *belongings(path)})


def _sources(folder: Path) -> list[Path]:
    files, _ = listing(folder)
    found = (folder / name for name in files if not name.startswith("__"))
    return [path for path in found if path.suffix in SOURCES]


def _framed(data: bytes) -> bytes:
    """With its length ahead, so that no two lists of parts look alike."""
    return b"%d:" % len(data) + data
