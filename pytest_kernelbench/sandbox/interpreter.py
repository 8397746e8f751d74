"""The interpreter's file, which what it runs can reach however it is mounted.

``/proc/self/exe`` leads to it by the mount from which it was started. A process that was forked
since into mounts of its own, read-only ones even, can thus change its mode, if it is this user's,
and no judge would start any more.
"""

from __future__ import annotations

import contextlib
import os
import stat


class Interpreter:
    """Its file as it was when this was made: before there was anybody to change it."""

    def __init__(self) -> None:
        try:
            self.fd = os.open("/proc/self/exe", os.O_RDONLY)
            """Of no child: who has it can change the file."""
        except PermissionError:  # One that may be run and not read is not this user's.
            self.fd = os.open(os.devnull, os.O_RDONLY)
        self._mode = stat.S_IMODE(os.fstat(self.fd).st_mode)

    def mend(self) -> None:
        """Undo what has been done to its mode, if it is this user's at all."""
        if stat.S_IMODE(os.fstat(self.fd).st_mode) != self._mode:
            with contextlib.suppress(OSError):
                os.fchmod(self.fd, self._mode)
