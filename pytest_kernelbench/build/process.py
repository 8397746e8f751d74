"""Run a build child in a session of its own, bounded in time and output, and end it whole."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pytest_kernelbench.build.job import LOG_FILE
from pytest_kernelbench.build.waiting import session_over
from pytest_kernelbench.folders import is_plain, write_anew
from pytest_kernelbench.sandbox.tree import alive, descendants, send

if TYPE_CHECKING:
    from pytest_kernelbench.build.job import Job
    from pytest_kernelbench.build.nursery import Nursery

_LOG_LIMIT_BYTES = 64 << 20
_LOG_KEPT_BYTES = 1 << 20
_LOOK_EVERY_S = 0.05
_END_TIMEOUT_S = 5.0
_END_LOOK_S = 0.01


@dataclass(frozen=True)
class End:
    """How a build child ended."""

    exit_status: int
    """As of ``subprocess``: negative for a signal."""
    seconds: float
    cpu_s: float = 0.0
    """Of all its processes; unknown if it was stopped."""
    stopped: str = ""
    """Why it was ended before its time; empty if it ended by itself."""
    idle: bool = False
    """It was ended because its module body went on and on and compiled nothing."""


def run_child(
    nursery: Nursery, job: Job, timeout_s: float, idle_s: float, cancelled: threading.Event
) -> End:
    """Run the child of ``job`` to its end; what it prints goes to the work folder's log.

    It may take ``timeout_s`` in all, and ``idle_s`` at a stretch in which it compiles nothing.

    Raises ``MachineError`` where it cannot start, and once ``cancelled`` is set.
    """
    folder = Path(job.folder)
    log = folder / LOG_FILE
    started = time.monotonic()
    child = nursery.spawn(folder, Path(job.solution).parent, log, job.environment)
    ended: tuple[int, float] | None = None
    stopped, idle = "", False
    busy_at = started
    try:
        while ended is None and not stopped:
            ended = child.ended(_LOOK_EVERY_S)
            now = time.monotonic()
            stopped = _stop(log, now - started, timeout_s)
            if now - busy_at > idle_s:
                if _compiles(child.pid):
                    busy_at = now
                elif ended is None and not stopped:
                    stopped, idle = f"its module body did not end within {idle_s:g} s", True
            if cancelled.is_set():
                raise session_over()
    finally:
        if ended is None:
            _end_all(child.pid)
        child.close()
    _trim(log)
    seconds = time.monotonic() - started
    if ended is None:
        return End(-signal.SIGKILL, seconds, stopped=stopped, idle=idle)
    return End(ended[0], seconds, ended[1])


def _compiles(keeper: int) -> bool:
    """Whether anything but Python runs below the child."""
    try:
        below = psutil.Process(keeper).children(recursive=True)
        return any(not each.name().startswith("python") for each in below)
    except psutil.NoSuchProcess:
        return False


def _stop(log: Path, seconds: float, timeout_s: float) -> str:
    """Why a child that is still running must not go on; empty if it may."""
    if seconds > timeout_s:
        return f"the build took longer than {timeout_s:g} s (--kb-build-timeout)"
    if is_plain(log) and log.stat().st_size > _LOG_LIMIT_BYTES:
        return f"it printed more than {_LOG_LIMIT_BYTES >> 20} MiB"
    return ""


def _trim(log: Path) -> None:
    """Keep the beginning and the end of a log that is longer than anyone reads.

    What the child has put in its place is no log, and is looked into by nobody.
    """
    if not is_plain(log):
        write_anew(log, b"the build removed its own log\n")
        return
    size = log.stat().st_size
    if size <= 2 * _LOG_KEPT_BYTES:
        return
    with log.open("rb") as file:
        head = file.read(_LOG_KEPT_BYTES)
        file.seek(size - _LOG_KEPT_BYTES)
        tail = file.read(_LOG_KEPT_BYTES)
    left_out = f"\n... {size - len(head) - len(tail)} bytes left out ...\n"
    write_anew(log, head + left_out.encode() + tail)


def _end_all(keeper: int) -> None:
    """Kill a keeper that has not told how its child ended, and all below it."""
    below = [keeper, *descendants(keeper)]  # asked while those between are alive
    with contextlib.suppress(ProcessLookupError):
        os.killpg(keeper, signal.SIGKILL)
    deadline_s = time.monotonic() + _END_TIMEOUT_S
    while (left := [pid for pid in below if alive(pid)]) and time.monotonic() < deadline_s:
        for pid in left:
            send(pid, signal.SIGKILL)
        time.sleep(_END_LOOK_S)
