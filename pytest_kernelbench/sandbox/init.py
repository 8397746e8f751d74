"""What the process above a child does: it reaps, looks at what all of them hold, and ends the rest.

Below the fork server and around a build alike.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING, TypeVar

from pytest_kernelbench.sandbox.plan import STOP_ALL
from pytest_kernelbench.sandbox.tree import descendants, send

if TYPE_CHECKING:
    from collections.abc import Callable

HEARD = frozenset({signal.SIGCHLD, STOP_ALL})
"""To be blocked before there is a child: its end is waited for by a signal, with a deadline."""
_LOOK_EVERY_S = 0.1
_PAUSE_S = 0.002

Found = TypeVar("Found", int, str)


def watch(
    child: int,
    look: Callable[[list[int]], Found] | None,
    obey: Callable[[signal.struct_siginfo], None],
    rest: int,
) -> tuple[int, Found | None]:
    """Reap until ``child`` ends: its wait status, and what it was ended for.

    ``look`` is asked ten times a second about all that is below this process, and what it finds
    ends ``child``; after each look there is none for ``rest`` times as long as it took. ``obey``
    is told of each ``STOP_ALL``.
    """
    found, look_at = None, time.monotonic() + _LOOK_EVERY_S
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            return status, found
        # By the clock: who has processes end all the time is not spared for it.
        if look is not None and (start := time.monotonic()) >= look_at:
            if found := look(descendants(os.getpid())):
                os.kill(child, signal.SIGKILL)
                look = None
            took_s = time.monotonic() - start
            look_at = start + took_s + max(_LOOK_EVERY_S, rest * took_s)
        if pid:
            left_s: float | None = 0.0  # there may be more to reap, and an order
        else:
            left_s = None if look is None else max(0.0, look_at - time.monotonic())
        heard = _hear(left_s)
        if heard is not None and heard.si_signo == STOP_ALL:
            obey(heard)


def _hear(wait_s: float | None) -> signal.struct_siginfo | None:
    return signal.sigwaitinfo(HEARD) if wait_s is None else signal.sigtimedwait(HEARD, wait_s)


def end_descendants(patience_s: float) -> int:
    """Kill and reap all that is below this process; how many are still there after that long.

    What is in a call of a driver may take seconds to die.
    """
    deadline = time.monotonic() + patience_s
    while below := descendants(os.getpid()):
        if time.monotonic() > deadline:
            return len(below)
        for pid in below:
            send(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(_PAUSE_S)
    return 0
