"""The processes below one, read from /proc: quick enough to be asked before each timed turn."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_STOPPED = frozenset("TtZX")


def descendants(pid: int) -> list[int]:
    """The pids of everything below ``pid``, parents before children."""
    found = [pid]
    for parent in found:
        found.extend(_children(parent))
    return found[1:]


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is no corpse that waits to be reaped."""
    return _state(pid) not in ("", "Z", "X")


def frozen(pid: int) -> bool:
    """Whether the process does not run: it is stopped, or dead."""
    return _state(pid) in _STOPPED or not _state(pid)


def send(pid: int, number: int) -> None:
    """Signal a process that may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii")
            found.extend(map(int, text.split()))
    return found


def _state(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[0]  # the name before it may hold anything
