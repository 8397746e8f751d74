"""Folders that somebody else has filled: removed, measured, read and written to safely.

Neither by recursion nor by whole paths: a solution can nest folders deeper than Python calls and
longer than the kernel takes names.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OPENED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove it as far as that is allowed; another process may be removing it too.

    Each folder within is lifted to the top before it is looked into, so that none is ever deep.
    """
    with contextlib.suppress(OSError), _opened(folder, None) as top:
        # Names that nobody can have taken.
        fresh = (f".kb-{secrets.token_hex(8)}-{number}" for number in itertools.count())
        names = os.listdir(top)
        while names:
            found: list[str] = []
            for name in names:
                if _is_folder(name, top):
                    found += _emptied(name, top, fresh)
                else:
                    _try_unlink(name, top)
            names = found
    with contextlib.suppress(OSError):
        folder.rmdir()


def tree_bytes(folder: Path) -> int:
    """Size of all files below it; what goes away meanwhile, or lies too deep, counts nothing."""
    total, folders = 0, [str(folder)]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_size
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
    return total


def is_plain(path: Path) -> bool:
    """Whether it is a file itself: no link to one elsewhere, no pipe that would be waited for."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def write_anew(path: Path, data: bytes) -> None:
    """Write a file in place of whatever lies there: through a link it would be somebody else's."""
    fresh = path.with_name(f".kb-{secrets.token_hex(8)}")
    with fresh.open("xb") as file:
        file.write(data)
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    fresh.replace(path)


def _emptied(name: str, top: int, fresh: Iterator[str]) -> list[str]:
    """Remove the folder; gives what was a folder in it, and lies beside it now."""
    lifted = []
    with contextlib.suppress(OSError), _opened(name, top) as here:
        for inner in os.listdir(here):
            if not _is_folder(inner, here):
                _try_unlink(inner, here)
                continue
            with contextlib.suppress(OSError):
                os.chmod(inner, stat.S_IRWXU, dir_fd=here)  # its ".." is to be written
                os.rename(inner, other := next(fresh), src_dir_fd=here, dst_dir_fd=top)
                lifted.append(other)
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=top)
    return lifted


@contextlib.contextmanager
def _opened(name: str | Path, within: int | None) -> Iterator[int]:
    with contextlib.suppress(OSError):
        if within is not None and _is_folder(str(name), within):
            os.chmod(name, stat.S_IRWXU, dir_fd=within)
    handle = os.open(name, _OPENED, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def _is_folder(name: str, within: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)
    return False


def _try_unlink(name: str, within: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=within)
