"""Folders that somebody else has filled: removed, measured and read safely.

Neither by recursion nor by whole paths: a solution can nest folders deeper than Python calls and
longer than the kernel takes names.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

_CHUNK_BYTES = 1 << 20
_LEFT_S = 86_400.0
_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a named pipe"),
    (stat.S_ISSOCK, "it is a socket"),
)
_OPENED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove it as far as that is allowed; another process may be removing it too.

    Each folder within is lifted to the top before it is looked into, so that none is ever deep.
    """
    with contextlib.suppress(OSError), _opened(folder, None) as top:
        # Names that nobody can have taken.
        fresh = (f".kb-{os.urandom(8).hex()}-{number}" for number in itertools.count())
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


def owned_folder(place: Path, prefix: str = "") -> Path:
    """A new folder that ``sweep_owned`` removes if this process cannot. Raises ``OSError``."""
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=place))


def sweep_owned(place: Path, prefix: str = "") -> int:
    """Remove what its owner, who is dead, has not touched for a day; returns how many."""
    count = 0
    for folder in place.glob(f"{prefix}*-*"):
        owner = folder.name.removeprefix(prefix).partition("-")[0]
        with contextlib.suppress(OSError):  # somebody else removes it
            # Aged, since a container that shares the place has numbers of its own.
            aged = time.time() - folder.stat().st_mtime > _LEFT_S
            if aged and owner.isdecimal() and not Path(f"/proc/{owner}").exists():
                remove_tree(folder)  # another user's stays, and is theirs
                count += not folder.exists()
    return count


def touch_owned(folder: Path) -> None:
    """Say that it is not left behind: whoever lives longer than a day does so now and then."""
    with contextlib.suppress(OSError):
        os.utime(folder)


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


def read_file(path: Path, most_bytes: int) -> bytes:
    """All of a file that a stranger may have put there; links are followed.

    Nothing is waited for, and nothing that is no file is opened. Raises ``OSError``, which says
    what it is: also for one that has more than ``most_bytes``, whatever it claims to have.
    """
    parts, left_bytes = [], most_bytes
    for part in chunks(path, most_bytes + 1):
        parts.append(part)
        left_bytes -= len(part)
    if left_bytes < 0:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes", str(path))
    return b"".join(parts)


def chunks(path: Path, most_bytes: int) -> Iterator[bytes]:
    """The beginning of a file, as ``read_file`` reads it, and no more of it than that."""
    _require_file(path.stat(), path)  # To open a device may command it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _require_file(os.fstat(handle), path)
        while most_bytes > 0 and (part := os.read(handle, min(most_bytes, _CHUNK_BYTES))):
            most_bytes -= len(part)
            yield part
    finally:
        os.close(handle)


def lies_in(folder: Path, path: Path) -> bool:
    """Whether it is a file whose true place is in the folder: no link that leads out of it.

    Who reads is behind no wall, and would hand a solution what its walls keep from it.
    """
    try:
        return path.is_file() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # A link to itself; before Python 3.13 no OSError.
        return False


def kind_of(path: Path) -> str:
    """What stands in the place of a file, in words; empty if it is one."""
    try:
        return _kind(path.stat().st_mode)
    except OSError as error:
        return "it is a link that leads nowhere" if path.is_symlink() else f"{error.strerror}"


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    return next((words for is_one, words in _KINDS if is_one(mode)), "it is a device")


def _require_file(found: os.stat_result, path: Path) -> None:
    if kind := _kind(found.st_mode):
        raise OSError(errno.EINVAL, kind, str(path))


def open_plain(folder: Path, name: str) -> BufferedReader:
    """Open a file below a folder that a stranger writes to, for reading.

    No link is followed on the way, no pipe is waited for. Raises ``OSError``: also for a name that
    leads out, for what is no file, and for a file with a second name, which may lie anywhere.
    """
    _require_inside(name)
    path = PurePosixPath(name)
    # Not blocking: to open a pipe for reading would wait for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open_folder(folder, str(path.parent)) as here:
        file = os.open(path.name, flags, dir_fd=here)
    found = os.fstat(file)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        return os.fdopen(file, "rb")
    os.close(file)
    raise OSError(errno.EINVAL, "it is no file, or one with a second name")


@contextlib.contextmanager
def open_folder(folder: Path, name: str) -> Iterator[int]:
    """A descriptor of a folder below one that a stranger writes to; follows no link.

    Raises ``OSError``.
    """
    _require_inside(name)
    here = os.open(folder, _OPENED)
    try:
        for part in PurePosixPath(name).parts:
            outer, here = here, os.open(part, _OPENED, dir_fd=here)
            os.close(outer)
        yield here
    finally:
        os.close(here)


def leads_inside(name: str) -> bool:
    """Whether the path is relative, and stays below the folder that it is relative to."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _require_inside(name: str) -> None:
    if not leads_inside(name):
        raise OSError(errno.EINVAL, "its name leads out of the folder")


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
