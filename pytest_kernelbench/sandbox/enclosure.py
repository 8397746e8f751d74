"""Walls around a process that was started in the ordinary way.

It goes on inside them, in a child of itself.

Builds run a solution's module body. The process that started the build waits for, and may kill, the
one outside; whatever was started inside ends when the one inside does.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from pytest_kernelbench.sandbox import kernel, landlock, seccomp, walls
from pytest_kernelbench.sandbox.tree import descendants, send

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def enclose(readable: Iterable[Path], writable: Iterable[Path]) -> walls.Walls:
    """Return in a child process inside the walls; the caller waits and ends as that child does.

    To be called early, while there is one thread. What the kernel refuses is named in the result's
    ``missing``.
    """
    raised = walls.Walls()
    kernel.die_with_parent(signal.SIGKILL)
    kernel.adopt_orphans()
    own_pids = walls.raise_outer(raised)
    child = os.fork()
    if child:
        _wait_for(child)
    kernel.die_with_parent(signal.SIGKILL)
    if own_pids:
        walls.raise_proc(raised)
    kernel.forbid_new_privileges()
    raised.raise_("no capabilities", kernel.drop_capabilities)
    raised.raise_("system calls (seccomp)", seccomp.restrict_calls)
    if landlock.abi():
        raised.raise_("files (Landlock)", lambda: landlock.restrict(readable, writable))
    else:
        raised.missing.append("files (Landlock): not in this kernel")
    return raised


def _wait_for(child: int) -> None:
    """Reap whatever is orphaned until ``child`` ends; end the rest, then this process alike."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            break
    while below := descendants(os.getpid()):
        for pid in below:
            send(pid, signal.SIGKILL)
        os.waitpid(-1, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in _FIXED:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


_FIXED = (signal.SIGKILL, signal.SIGSTOP)
