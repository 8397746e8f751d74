"""Walls around a process that was started in the ordinary way.

It goes on inside them, in a child of a child of itself:

    outside -> init (pid 1 of its namespace) -> inside

Builds run a solution's module body. The process that started the build waits for, and may kill, the
one outside; whatever was started inside ends when the one inside does.
"""

from __future__ import annotations

import os
import signal
import struct
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from pytest_kernelbench.sandbox import kernel, landlock, seccomp, walls
from pytest_kernelbench.sandbox.appetite import held_bytes
from pytest_kernelbench.sandbox.init import HEARD, end_descendants, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

_STATUS = struct.Struct("<i")
_REST = 1
"""Looking takes no more than half of the time: nothing is timed meanwhile."""
_END_PATIENCE_S = 10.0
_FIXED = (signal.SIGKILL, signal.SIGSTOP)


@dataclass(frozen=True)
class Bounds:
    """What all processes inside may have between them."""

    memory_bytes: int
    processes: int

    def exceeded(self, folder: Path | None, pids: list[int]) -> str:
        """How ``pids`` have more than that; empty if they do not.

        ``folder`` is their own folder of memory files, if they have one.
        """
        if len(pids) > self.processes:
            return f"{len(pids)} processes at a time are more than the {self.processes} allowed"
        held = held_bytes(pids, self.memory_bytes, folder=folder)
        if held > self.memory_bytes:
            allowed_gib = self.memory_bytes / (1 << 30)
            return f"its processes held {held / (1 << 30):.1f} of {allowed_gib:.1f} GiB of memory"
        return ""


def enclose(readable: Iterable[Path], writable: Collection[Path], bounds: Bounds) -> walls.Walls:
    """Return in a process inside the walls; the caller waits and ends as that one does.

    To be called early, while there is one thread. What the kernel refuses is named in the result's
    ``missing``. Where ``bounds`` are exceeded, that is printed and all inside are killed.
    """
    raised = walls.Walls()
    kernel.die_with_parent(signal.SIGKILL)
    kernel.adopt_orphans()
    own_pids = walls.raise_outer(raised)
    read_end, write_end = os.pipe()
    init = os.fork()
    if init:
        os.close(write_end)
        _wait_for(init, read_end)
    os.close(read_end)
    kernel.die_with_parent(signal.SIGKILL)
    kernel.adopt_orphans()
    if own_pids:
        walls.raise_proc(raised)
        walls.raise_shared_memory(raised, bounds.memory_bytes)
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    child = os.fork()
    if child:
        _be_init(child, write_end, partial(bounds.exceeded, raised.shared_memory))
    os.close(write_end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    kernel.die_with_parent(signal.SIGKILL)
    raised.up.append("memory and number of all its processes")
    kernel.forbid_new_privileges()
    raised.raise_("first to go when memory runs out", walls.offer_to_oom_killer)
    writable = [*writable, *walls.own_places(raised)]
    walls.raise_read_only(raised, writable)
    raised.raise_("no capabilities", kernel.drop_capabilities)
    # Nobody is stopped who could be woken.
    raised.raise_("system calls (seccomp)", lambda: seccomp.restrict_calls(wakers=True))
    if landlock.abi():
        raised.raise_("files (Landlock)", lambda: landlock.restrict(readable, writable))
    else:
        raised.missing.append("files (Landlock): not in this kernel")
    return raised


def _wait_for(init: int, status_fd: int) -> NoReturn:
    """Reap whatever is orphaned until ``init`` ends; end the rest, then this process as told."""
    while os.waitpid(-1, 0)[0] != init:
        pass
    _end_the_rest()
    told = os.read(status_fd, _STATUS.size)
    (status,) = _STATUS.unpack(told) if len(told) == _STATUS.size else (signal.SIGKILL,)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in _FIXED:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _be_init(child: int, status_fd: int, exceeded: Callable[[list[int]], str]) -> NoReturn:
    """Watch ``child`` and all below to their end, and tell how ``child`` ended."""
    kernel.hide_memory()
    status, why = watch(child, exceeded, _pass_over, _REST)
    if os.getpid() != 1:  # else the kernel ends the rest with this process
        _end_the_rest()
    if why:
        os.write(1, f"{why}\n".encode())
    os.write(status_fd, _STATUS.pack(status))
    os._exit(0)


def _pass_over(_: signal.struct_siginfo) -> None:
    """No order comes from outside."""


def _end_the_rest() -> None:
    if left := end_descendants(_END_PATIENCE_S):
        os.write(1, f"{left} processes of the build do not end, though killed\n".encode())
