"""Memory of the referee that the oracle can map: outputs are copied here and compared."""

from __future__ import annotations

import ctypes
import mmap
import os


class HostArena:
    """An anonymous memory file, mapped here; its pages exist once they are written."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = max(size_bytes, mmap.PAGESIZE)
        self.fd = os.memfd_create("kernelbench-arena", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, self.size_bytes)
        self._map = mmap.mmap(self.fd, self.size_bytes)
        self._view = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._view)

    def touch(self, offset: int, size_bytes: int) -> None:
        """Have ``size_bytes`` from there in memory: somebody stands still while they are filled."""
        assert offset + size_bytes <= self.size_bytes
        ctypes.memset(self.address + offset, 0, size_bytes)

    def close(self) -> None:
        """Close; its memory is unmapped with the last view (a traceback may still hold one)."""
        os.close(self.fd)


class Pristine:
    """A sealed memory file that the oracle made, mapped read-only for comparing."""

    def __init__(self, fd: int, size_bytes: int) -> None:
        self._map = mmap.mmap(fd, max(size_bytes, 1), flags=mmap.MAP_PRIVATE)
        self._view = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._view)

    def close(self) -> None:
        """Unmap."""
        del self._view
        self._map.close()
