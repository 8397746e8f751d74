"""What a child process shall be: the request a fork server answers, and what it says back."""

from __future__ import annotations

import os
import signal
import struct

import msgspec


class Plan(msgspec.Struct, frozen=True):
    """One child. ``entry`` is ``module:function``, called with the child's channel socket."""

    entry: str
    scratch: str
    """Folder of the child's own, writable: HOME, TMPDIR and every cache lie in it."""
    readable: tuple[str, ...] = ()
    """Files and folders it may read beside the interpreter, its packages and the system's."""
    writable: tuple[str, ...] = ()
    """Folders beside the scratch that it may write to."""
    untrusted: bool = True
    """Whether the walls are raised.

    A trusted child (the oracle) only gets a process group of its own.
    """
    gpu: bool = False
    """Whether it sees the device.

    Without, ``CUDA_VISIBLE_DEVICES`` is empty and ``/dev/nvidia*`` closed.
    """
    environment: dict[str, str] = {}
    memory_bytes: int | None = None
    """Limit of private memory (data segment), where it makes sense: not with CUDA."""
    tree_bytes: int | None = None
    """Limit of host memory for the child and all that it starts, watched from outside."""
    file_bytes: int = 4 << 30
    processes: int = 4096


class Born(msgspec.Struct, frozen=True, tag=True):
    """The child's init process is there (``pid`` as the fork server's namespace counts)."""

    pid: int
    walls: tuple[str, ...]
    missing: tuple[str, ...]
    """``"wall: reason"`` for each wall that the machine could not raise."""
    stops_all: bool
    """Whether init is the first process of a namespace, and can stop all of it by one call."""


class Stillborn(msgspec.Struct, frozen=True, tag=True):
    """The child could not be made."""

    reason: str
    errno: int = 0
    """The kernel's, if that was why."""
    place: str = ""
    """The file or folder that it refused."""

    @classmethod
    def of(cls, error: BaseException) -> Stillborn:
        """Why: also for those who have to tell a full disk from other failures."""
        reason = f"{type(error).__name__}: {error}"
        if not isinstance(error, OSError):
            return cls(reason)
        named = isinstance(error.filename, (str, bytes))
        place = os.fsencode(error.filename).decode(errors="replace") if named else ""
        return cls(reason, error.errno or 0, place)

    def cause(self) -> OSError | None:
        """What the kernel said, to be raised from."""
        if not self.errno:
            return None
        return OSError(self.errno, os.strerror(self.errno), self.place or None)


FromServer = Born | Stillborn

STOP_ALL = signal.SIGUSR1
"""From the referee to a child's init that can: stop everything below it at once."""
ENDING = struct.Struct("<iq")
"""What init reports: a wait status, and the bytes of host memory that were held if that was why."""
ALL_STOPPED = -1
"""In place of a wait status, which is never negative: done as asked for."""
