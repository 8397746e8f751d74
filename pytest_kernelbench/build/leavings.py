"""What a build child leaves in its work folder: read as a stranger's, piece by piece.

The solution may have put anything in the place of anything: links to files of the user's, pipes
that nobody fills, one file under a thousand names. Nothing here follows, waits or grows.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from pytest_kernelbench.build.driver import TOOL_LOGS
from pytest_kernelbench.errors import BY_DATA, BuildError, MachineError
from pytest_kernelbench.folders import open_folder, open_plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

_MOST_NAMES = 1000
_LOG_BYTES = 1 << 20
_LOGS_BYTES = 16 << 20
"""Of all tools together: the first errors are among them."""
_CHUNK_BYTES = 1 << 20
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
"""What no child can bring about."""


@contextlib.contextmanager
def understanding() -> Iterator[None]:
    """Raise ``BuildError`` where what a child left makes the code that reads it fail."""
    try:
        yield
    except BY_DATA as error:
        what = f"{type(error).__name__}: {error}"
        raise BuildError(f"the builder can make no sense of what it left ({what})") from error


class Leavings:
    """The work folder of a child that has ended.

    Raises ``BuildError`` where something else lies in the place of a file: that is the build's
    doing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, most_bytes: int) -> bytes | None:
        """The first ``most_bytes`` of a file; None where there is nothing of that name."""
        try:
            with self._opened(name) as file:
                return file.read(most_bytes)
        except FileNotFoundError:
            return None

    def size_bytes(self, name: str) -> int | None:
        """How large a file is; None where there is nothing of that name."""
        try:
            with self._opened(name) as file:
                return os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """What lies in a folder within, the oldest first; of very many only some."""
        try:
            with open_folder(self._folder, folder) as here, os.scandir(here) as entries:
                some = list(islice(entries, _MOST_NAMES))
                some.sort(key=lambda each: each.stat(follow_symlinks=False).st_mtime_ns)
                return [f"{folder}/{each.name}" for each in some]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _fault(folder, error) from error

    @cached_property
    def tool_logs(self) -> dict[str, bytes]:
        """What each compiler and linker printed, by file, in the order in which they ended.

        Files that end in ``.txt`` are of tries that do not count.
        """
        logs: dict[str, bytes] = {}
        left_bytes = _LOGS_BYTES
        for name in self.names(TOOL_LOGS):
            if left_bytes <= 0:
                break
            logs[name] = self.read(name, min(_LOG_BYTES, left_bytes)) or b""
            left_bytes -= len(logs[name])
        return logs

    def copy(self, name: str, target: Path) -> tuple[int, str]:
        """Copy a file to where nothing is yet; gives its size in bytes and its SHA-256."""
        digest = hashlib.sha256()
        with self._opened(name) as source, target.open("xb") as file:
            found = os.fstat(source.fileno())
            left_bytes = found.st_size
            while chunk := source.read(min(_CHUNK_BYTES, left_bytes)):
                digest.update(chunk)
                file.write(chunk)
                left_bytes -= len(chunk)
            if found.st_mode & stat.S_IXUSR:
                target.chmod(0o755)
        return found.st_size - left_bytes, digest.hexdigest()

    def _opened(self, name: str) -> BufferedReader:
        try:
            return open_plain(self._folder, name)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _fault(name, error) from error


def _fault(name: str, error: OSError) -> BuildError | MachineError:
    if error.errno in _OURS:
        return MachineError(f"what a build has left cannot be read: {error}")
    return BuildError(f"its build left something that cannot be read as {name}: {error.strerror}")
