"""The processes below one, read from /proc: quick enough to be asked before each timed turn."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.sandbox import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEAD = frozenset(("", "Z", "X"))
_STOPPED = frozenset("Tt") | _DEAD
_BORN = 19
"""The place of a process's start in its ``stat`` behind the name."""
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED, of all threads
_GONE = (FileNotFoundError, ProcessLookupError)
"""What /proc answers of who has ended; any other error is none of that, and nobody's end."""


def descendants(pid: int) -> list[int]:
    """The pids of everything below ``pid``, parents before children."""
    by_parent = None if _lists_children() else _by_parent()
    found = [pid]
    for parent in found:
        found.extend(children(parent) if by_parent is None else by_parent.pop(parent, ()))
    return found[1:]


def children(pid: int) -> list[int]:
    """The pids of what ``pid`` has started, by any of its threads, and what it has adopted."""
    if not _lists_children():
        return _by_parent().get(pid, [])
    found: list[int] = []
    for thread in _threads(pid):
        with contextlib.suppress(*_GONE):
            text = Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii")
            found.extend(map(int, text.split()))
    return found


@lru_cache(maxsize=1)
def _lists_children() -> bool:
    """Whether the kernel keeps lists of children (``CONFIG_PROC_CHILDREN``).

    Asked once: where there are none, nobody would seem to have started anybody.
    """
    return Path("/proc/thread-self/children").exists()


def _by_parent() -> dict[int, list[int]]:
    """All processes that are to be seen, by whose child each is: slow, and the same everywhere."""
    found: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdecimal():
            found[_parent(int(name))].append(int(name))
    return found


def signal_name(number: int) -> str:
    """``SIGKILL``, say; most of those for real-time use have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def command(pid: int) -> list[bytes]:
    """The words that the process was started with; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except (*_GONE, PermissionError):  # another user's may be hidden
        return []


def ancestors(pid: int) -> list[int]:
    """The pids of everything above ``pid``, the nearest first; none of a process that has ended."""
    found: list[int] = []
    while (pid := _parent(pid)) > 0:
        found.append(pid)
    return found


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is no corpse that waits to be reaped."""
    state = _stat(f"{pid}")[0]
    if state != "Z":  # of its first thread: others may go on
        return state not in _DEAD
    return not all(state in _DEAD for state in _thread_states(pid))


def frozen(pid: int) -> bool:
    """Whether no thread of the process runs: all are stopped, or dead.

    What the kernel says of a process is the state of its first thread. That may be dead, or stopped
    while another one is in a long system call, which it ends before it stops.
    """
    return all(state in _STOPPED for state in _thread_states(pid))


def cpu_ns(pid: int) -> int:
    """Processor time that the process has used; 0 if it has ended.

    The number of its clock is what ``clock_getcpuclockid`` makes of a pid.
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | _PROCESS_CLOCK)
    except OSError:
        return 0


def born_s(pid: int) -> float:
    """When the process was started, in seconds since the machine was; 0 if it has ended."""
    fields = _stat(f"{pid}")
    return int(fields[_BORN]) / os.sysconf("SC_CLK_TCK") if len(fields) > _BORN else 0.0


def uptime_s() -> float:
    """Now, as ``born_s`` has it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def send(pid: int, number: int) -> None:
    """Signal a process that may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def kills_for_memory() -> int:
    """How often this machine's kernel has killed for lack of memory; 0 where it does not tell."""
    try:
        text = Path("/proc/vmstat").read_text(encoding="ascii")
    except OSError:
        return 0
    counts = [line.split()[1] for line in text.splitlines() if line.startswith("oom_kill ")]
    return int(counts[0]) if counts else 0


def stop(pid: int) -> None:
    """Tell a process to stop, by each of its threads.

    A signal to the process as a whole waits until one thread of the kernel's choice (one that
    sleeps, at that) has its turn on a processor; those that run go on until then.
    """
    for thread in _threads(pid):
        with contextlib.suppress(ProcessLookupError):
            kernel.signal_thread(pid, int(thread), signal.SIGSTOP)


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except _GONE:
        return []


def _thread_states(pid: int) -> Iterator[str]:
    for thread in _threads(pid):
        yield _stat(f"{pid}/task/{thread}")[0]


def _parent(pid: int) -> int:
    return int(_stat(f"{pid}")[1])


def _stat(who: str) -> list[str]:
    """From the state on: the name before it may hold anything."""
    try:
        text = Path(f"/proc/{who}/stat").read_text(encoding="utf-8", errors="replace")
    except (*_GONE, PermissionError):  # likewise
        return ["", "0"]
    return text.rpartition(")")[2].split()
