"""How many compilers run at a time: a slot each, shared by all who use the same cache."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import TYPE_CHECKING

import filelock
import psutil

from pytest_kernelbench.build.store import disk_errors
from pytest_kernelbench.build.waiting import LOOK_EVERY_S, session_over, try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPILER_BYTES = 2 << 30
"""What one compiler takes at its worst: torch's whole headers in nvcc's front end."""
_LEAST_BYTES = 8 << 30
"""What any build may hold: templates without end are slow, but not wrong."""
MOST_FOR_ONE = 4
_SOURCE_NAMES = re.compile(rb"(?<![\w.-])[\w.-]+\.(?:cu|cpp|cc|cxx)\b")
_DEVICE_CODE = re.compile(rb"\bcuda_sources\b|__global__")


def most_useful(source: bytes) -> int:
    """How many compilers a solution can keep busy at a time, guessed from its text.

    ``load_inline`` makes one file of bindings and one of device code; ``load`` names its files.
    """
    found = len(set(_SOURCE_NAMES.findall(source))) if b"load(" in source else 0
    if b"load_inline" in source:
        found = max(found, 2 if _DEVICE_CODE.search(source) else 1)
    return max(1, min(MOST_FOR_ONE, found))


def usable_slots(wanted: int | None) -> int:
    """As many as asked for, else as there are cores; never more than the free memory carries."""
    cores = len(os.sched_getaffinity(0))
    by_memory = int(psutil.virtual_memory().available // COMPILER_BYTES)
    return max(1, min(wanted or cores, by_memory))


def memory_bound(jobs: int, count: int) -> int:
    """Host memory that a build with ``jobs`` of ``count`` compilers may hold.

    Its share of half the machine, or what a large one needs; never more than three quarters.
    """
    total = int(psutil.virtual_memory().total)
    return min(max(total // 2 * jobs // count, _LEAST_BYTES), total // 4 * 3)


class Slots:
    """Files below ``folder``; whoever holds the lock of one may run one compiler.

    Nobody waits for one any more once ``cancelled`` is set.
    """

    def __init__(self, folder: Path, count: int, cancelled: threading.Event | None = None) -> None:
        self.count = count
        self._cancelled = cancelled or threading.Event()
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._paths = [folder / f"{number}.lock" for number in range(count)]

    @contextlib.contextmanager
    def hold(self, others: int = 0, most: int = MOST_FOR_ONE) -> Iterator[int]:
        """Wait for a slot; take up to ``most`` where each of the others can have one, too.

        Raises ``MachineError`` if nobody is to wait any more.
        """
        held = [self._first()]
        try:
            spare = min(most, self.count - others) - 1
            for lock in self._free():
                if len(held) > spare:
                    lock.release()
                    break
                held.append(lock)
            yield len(held)
        finally:
            for lock in held:
                lock.release()

    def _first(self) -> filelock.FileLock:
        while True:
            for lock in self._free():
                return lock
            if self._cancelled.wait(LOOK_EVERY_S):
                raise session_over()

    def _free(self) -> Iterator[filelock.FileLock]:
        for path in self._paths:
            lock = filelock.FileLock(path, thread_local=False, is_singleton=False)
            if try_lock(lock):
                yield lock
