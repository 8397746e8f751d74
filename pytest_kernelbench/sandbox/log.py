"""What a child prints."""

from __future__ import annotations

import os
import tempfile
from typing import final


@final
class Log:
    """A file without a name that a child prints to.

    It is read by a descriptor that shares nothing with the child's: whoever holds the same open
    file can move its place, and make every read of it fail (``O_DIRECT``).
    """

    def __init__(self) -> None:
        self._theirs = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - see ``close``
        self._ours = os.open(f"/proc/self/fd/{self.fileno()}", os.O_RDONLY | os.O_CLOEXEC)

    def fileno(self) -> int:
        """The descriptor for the child."""
        return self._theirs.fileno()

    def tail(self, size_bytes: int) -> str:
        """The end of what has been printed."""
        end = os.fstat(self._ours).st_size
        said = os.pread(self._ours, size_bytes, max(0, end - size_bytes))
        return said.decode(errors="replace").strip()

    def close(self) -> None:
        """Forget it."""
        self._theirs.close()
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
