"""What lies in a folder, remembered until the folder changes."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from os import scandir
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Names = tuple[tuple[str, ...], tuple[str, ...]]


def listing(folder: Path) -> Names:
    """Names of files and of folders, sorted, but for hidden ones and caches of Python's."""
    return _listing(folder, changed_ns(folder))


def changed_ns(path: Path) -> int:
    """When it was changed; 0 where that is not to be found out."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=4096)
def _listing(folder: Path, _changed_at_ns: int) -> Names:
    files, folders = [], []
    # Of a folder that cannot be read nothing belongs to anybody.
    with suppress(OSError), scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_file():
                files.append(entry.name)
    return tuple(sorted(files)), tuple(sorted(folders))
