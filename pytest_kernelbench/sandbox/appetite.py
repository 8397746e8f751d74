"""Host memory that processes hold between them: what one limit a process cannot bound.

Counted is what stands in the kernel's own books: private memory, shared memory that is mapped,
memory files that are only held by a descriptor, and files in a folder of memory.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_FIELD = re.compile(r"^(RssAnon|RssShmem|Pss_Anon|Pss_Shmem):\s*(\d+) kB$", re.MULTILINE)
_KIB = 1024
_BLOCK_BYTES = 512
_SHM_ROWS, _SHM_RSS = "/proc/sysvipc/shm", "rss"


def held_bytes(
    pids: list[int],
    limit_bytes: int,
    between: Callable[[], object] = lambda: None,
    folder: Path | None = None,
) -> int:
    """About what ``pids`` hold; exactly where that is above the limit.

    The quick look counts twice what forked processes share, so only the slow one may accuse.
    ``between`` is called before each process is looked at: how long that takes they choose.
    ``folder`` is a file system in memory that is theirs alone.
    """
    files = _memory_files(_each(pids, between)) + _segments() + _filled(folder)
    quick = max(sum(_of(pid, "status", "RssShmem") for pid in _each(pids, between)), files)
    quick += sum(_of(pid, "status", "RssAnon") for pid in _each(pids, between))
    if quick <= limit_bytes:
        return quick
    shares = [_shares(pid) for pid in _each(pids, between)]
    mapped = sum(shared for _, shared in shares)
    return sum(private for private, _ in shares) + max(mapped, files)


def _each(pids: list[int], between: Callable[[], object]) -> Iterator[int]:
    for pid in pids:
        between()
        yield pid


def _shares(pid: int) -> tuple[int, int]:
    """``(private, shared)`` with what several have in common divided among them.

    Where a process does not let itself be looked at so closely, all of it is its own.
    """
    private = _of(pid, "smaps_rollup", "Pss_Anon")
    if private:
        return private, _of(pid, "smaps_rollup", "Pss_Shmem")
    return _of(pid, "status", "RssAnon"), _of(pid, "status", "RssShmem")


def _of(pid: int, file: str, field: str) -> int:
    try:
        with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="replace") as opened:
            found = dict(_FIELD.findall(opened.read()))
    except OSError:
        return 0  # it has ended
    return int(found.get(field, 0)) * _KIB


def _memory_files(pids: Iterable[int]) -> int:
    """Bytes of memory files (``memfd_create``) that the processes hold, each counted once."""
    sizes: dict[int, int] = {}
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                with contextlib.suppress(OSError):
                    if os.readlink(f"{folder}/{name}").startswith("/memfd:"):
                        facts = os.stat(f"{folder}/{name}")
                        sizes[facts.st_ino] = facts.st_blocks * _BLOCK_BYTES
    return sum(sizes.values())


def _filled(folder: Path | None) -> int:
    if folder is None:
        return 0
    found = os.statvfs(folder)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _segments() -> int:
    """Bytes of System V segments of this namespace."""
    try:
        with open(_SHM_ROWS, encoding="ascii") as opened:
            head, *rows = (line.split() for line in opened)
    except (OSError, ValueError):
        return 0  # a kernel without them
    column = head.index(_SHM_RSS) if _SHM_RSS in head else -1
    return sum(int(row[column]) for row in rows) if column >= 0 else 0
