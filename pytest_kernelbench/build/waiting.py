"""Waiting for others who use the same cache, for as long as the session lasts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import filelock

from pytest_kernelbench.errors import MachineError

LOOK_EVERY_S = 0.02


@contextlib.contextmanager
def held(lock: filelock.FileLock, cancelled: threading.Event) -> Iterator[None]:
    """Hold the lock once it is free; raises ``MachineError`` once ``cancelled`` is set."""
    while not try_lock(lock):
        if cancelled.wait(LOOK_EVERY_S):
            raise session_over()
    try:
        yield
    finally:
        lock.release()


def try_lock(lock: filelock.FileLock) -> bool:
    """Take the lock if nobody has it."""
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return False
    return True


def session_over() -> MachineError:
    """What ends a build that is no longer wanted."""
    return MachineError("the build was ended because the session is over")
