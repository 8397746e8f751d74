"""The control block of a batch, in host memory.

The device reads the key from it and writes the digests to it.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os

from pytest_kernelbench.judge.chain import Key
from pytest_kernelbench.timing.schedule import MOST_CALLS

_GO, _KEY, _DONE, _DIGESTS = 0, 8, 24, 64
SIZE_BYTES = 1 << 16
assert _DIGESTS + 16 * MOST_CALLS <= SIZE_BYTES


class Control:
    """As the struct of that name in ``protocol.cu``.

    The referee polls it; a runner's device writes it.
    """

    def __init__(self) -> None:
        self.fd = os.memfd_create("kernelbench-control", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, SIZE_BYTES)
        # Who cuts it short would end the referee with its next look (SIGBUS).
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        self._map = mmap.mmap(self.fd, SIZE_BYTES)
        self._go = ctypes.c_uint64.from_buffer(self._map, _GO)
        self._key = (ctypes.c_uint64 * 2).from_buffer(self._map, _KEY)
        self.done = ctypes.c_uint64.from_buffer(self._map, _DONE)
        """``.value`` is the number of finished calls."""
        self._digests = (ctypes.c_uint64 * (2 * MOST_CALLS)).from_buffer(self._map, _DIGESTS)

    def arm(self) -> None:
        """No call of the coming batch is finished."""
        self.done.value = 0

    def give(self, number: int, key: Key) -> None:
        """Open the gate of batch ``number``: its inputs can be made from now on."""
        self._key[0], self._key[1] = key
        self._go.value = number  # last: the device reads the key once it sees the number

    def digests(self, calls: int) -> list[Key]:
        """A copy of what the device has written."""
        raw = list(self._digests[: 2 * calls])
        return list(zip(raw[::2], raw[1::2], strict=True))

    def close(self) -> None:
        """Close; its memory is unmapped with the last view (a traceback may still hold one)."""
        os.close(self.fd)
