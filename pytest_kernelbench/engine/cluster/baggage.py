"""The files of a pair: taken up by the session, laid out on a node."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_kernelbench.engine.cluster.messages import File
from pytest_kernelbench.errors import BuildError, MachineError
from pytest_kernelbench.folders import chunks, lies_in, remove_tree
from pytest_kernelbench.judge.staging import companions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT_BYTES = 16 << 20
"""Of all files of a solution: tasks are no way to move data sets."""


def take(source: Path) -> tuple[File, ...]:
    """A solution with what belongs to it, itself first.

    That is everything beside a ``solution.py``, and otherwise what belongs to it, and what else
    lies beside it and is named in it, or in a file so found: its build may read that. The node
    lays out for a contender what belongs to it, as the session would. No link that leads out of the
    folder. Raises ``BuildError`` where it
    cannot be read, ``MachineError`` where it is too long to be sent.
    """
    taken: dict[Path, bytes] = {}
    try:
        for path in (source, *companions(source)):
            _take(path, taken, source)
        for path in _named(source.parent, taken):
            _take(path, taken, source)
    except OSError as error:
        message = f"{error.filename or source} cannot be read: {error.strerror}"
        raise BuildError(message) from error
    return tuple(File(_relative(path, source), data) for path, data in taken.items())


def _take(path: Path, taken: dict[Path, bytes], source: Path) -> None:
    left_bytes = LIMIT_BYTES - sum(map(len, taken.values()))
    data = b"".join(chunks(path, left_bytes + 1))
    if len(data) > left_bytes:
        message = (
            f"{source} and what belongs to it have more than {LIMIT_BYTES >> 20} MiB, too much to "
            "be sent to a node; judge it with --kb-engine local, where it lies"
        )
        raise MachineError(message)
    taken[path] = data


def _named(folder: Path, taken: dict[Path, bytes]) -> Iterator[Path]:
    """Files of the folder whose names stand in those taken, which grow meanwhile."""
    names = {entry.name for entry in os.scandir(folder) if entry.is_file()}
    names -= {path.name for path in taken}
    unread = list(taken.values())
    while unread:
        text = unread.pop()
        for name in sorted(name for name in names if os.fsencode(name) in text):
            names.remove(name)
            path = folder / name
            if lies_in(folder, path):
                yield path
                unread.append(taken[path])


def _relative(path: Path, source: Path) -> str:
    return path.relative_to(source.parent).as_posix()


def lay_out(files: Iterable[File], folder: Path) -> Path:
    """Write files below ``folder``, in a place named by their content; gives the first one's path.

    All of them or none: other tasks of the node may be writing the same.
    """
    files = tuple(files)
    digest = hashlib.sha256()
    for file in files:
        for part in (file.name.encode("utf-8", "surrogateescape"), file.data):
            digest.update(b"%d:" % len(part) + part)
    place = folder / digest.hexdigest()[:16]
    if not place.is_dir():
        try:
            _write(files, place)
        except OSError as error:
            message = f"the sources of a pair cannot be written to {folder}: {error.strerror}"
            raise MachineError(message) from error
    return place / files[0].name


def _write(files: tuple[File, ...], place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        for file in files:
            name = PurePosixPath(file.name)
            if name.is_absolute() or ".." in name.parts:
                message = f"{file.name!r} leads out of the solution's folder"
                raise MachineError(message)
            target = fresh / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
        fresh.chmod(0o755)
        try:
            fresh.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    finally:
        remove_tree(fresh)
