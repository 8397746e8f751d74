"""Files beside a solution that its build read: part of what the cache knows the build by.

Their names are a build child's word. So a name may lead nowhere but below the solution's folder,
and what is read of all of them is bounded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.folders import leads_inside

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 1024
_HASHED_BYTES = 256 << 20
"""Of all files of one build; what is beyond is known by its size and the time of its change."""
_CHUNK_BYTES = 1 << 20


def believable(names: Iterable[object]) -> list[str]:
    """Those that can be names of files below a folder, in order, and not too many."""
    found = {name for name in names if isinstance(name, str) and name and leads_inside(name)}
    return sorted(found)[:MOST]


def shown(folder: Path, names: Iterable[str]) -> list[tuple[str, str]]:
    """Each name, and what stands for the contents of the file; empty where there is none."""
    top = os.path.realpath(folder)
    left_bytes = _HASHED_BYTES
    rows: list[tuple[str, str]] = []
    for name in names:
        contents, read_bytes = _contents(top, name, left_bytes)
        left_bytes -= read_bytes
        rows.append((name, contents))
    return rows


def surroundings(solution: Path) -> str:
    """What stands for all that lies beside a solution; where that is very much, for its place."""
    folder, names = solution.parent, list[str]()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        beside = (os.path.relpath(os.path.join(place, name), folder) for name in files)
        names.extend(name for name in beside if name != solution.name)
        if len(names) > MOST:
            return str(solution)
    rows = shown(folder, sorted(names))
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _contents(top: str, name: str, most_bytes: int) -> tuple[str, int]:
    # A link within the folder is the user's own; where it leads elsewhere no build could follow.
    path = os.path.realpath(os.path.join(top, name))
    if not path.startswith(top + os.sep):
        return "", 0
    # Not blocking: a pipe would be waited for.
    with contextlib.suppress(OSError), open(path, "rb", opener=_not_blocking) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return "", 0
        if found.st_size > most_bytes:
            return f"{found.st_size} bytes of {found.st_mtime_ns}", 0
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
        return digest.hexdigest(), found.st_size
    return "", 0  # there is no such file


def _not_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
