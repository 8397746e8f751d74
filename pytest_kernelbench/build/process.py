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

from pytest_kernelbench.build.waiting import session_over
from pytest_kernelbench.sandbox.tree import alive, descendants, kills_for_memory, send

if TYPE_CHECKING:
    from io import BufferedReader

    from pytest_kernelbench.build.job import Job
    from pytest_kernelbench.build.nursery import Newborn, Nursery

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
    starved: bool = False
    """Meanwhile the kernel has killed somebody on this machine for lack of memory."""
    said: bytes = b""
    """What it printed; of very much the beginning and the end."""


def run_child(  # noqa: PLR0913, PLR0917 - what to run, and when to end it
    nursery: Nursery,
    job: Job,
    log: Path,
    timeout_s: float,
    idle_s: float,
    cancelled: threading.Event,
) -> End:
    """Run the child of ``job`` to its end; what it prints goes to ``log``.

    It may take ``timeout_s`` in all, and ``idle_s`` at a stretch in which it compiles nothing.

    Raises ``MachineError`` where it cannot start, and once ``cancelled`` is set.
    """
    # Opened before there is a child: whatever it does to the file, this is what it prints to.
    with log.open("ab") as written, log.open("rb") as read:
        folder = Path(job.folder)
        child = nursery.spawn(folder, folder, written.fileno(), job.environment)
        return _watch(child, read, timeout_s, idle_s, cancelled)


def _watch(
    child: Newborn,
    log: BufferedReader,
    timeout_s: float,
    idle_s: float,
    cancelled: threading.Event,
) -> End:
    kills_before = kills_for_memory()
    busy_at = started = time.monotonic()
    ended: tuple[int, float] | None = None
    stopped, idle = "", False
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
    exit_status, cpu_s = ended or (-signal.SIGKILL, 0.0)
    return End(
        exit_status,
        time.monotonic() - started,
        cpu_s,
        stopped=stopped if ended is None else "",
        idle=idle,
        starved=kills_for_memory() > kills_before,
        said=_trimmed(log),
    )


def _compiles(keeper: int) -> bool:
    """Whether anything but Python runs below the child."""
    try:
        below = psutil.Process(keeper).children(recursive=True)
        return any(not each.name().startswith("python") for each in below)
    except psutil.NoSuchProcess:
        return False


def _stop(log: BufferedReader, seconds: float, timeout_s: float) -> str:
    """Why a child that is still running must not go on; empty if it may."""
    if seconds > timeout_s:
        return f"the build took longer than {timeout_s:g} s (--kb-build-timeout)"
    if os.fstat(log.fileno()).st_size > _LOG_LIMIT_BYTES:
        return f"it printed more than {_LOG_LIMIT_BYTES >> 20} MiB"
    return ""


def _trimmed(log: BufferedReader) -> bytes:
    """The beginning and the end of a log that is longer than anyone reads."""
    size = os.fstat(log.fileno()).st_size
    if size <= 2 * _LOG_KEPT_BYTES:
        return log.read(2 * _LOG_KEPT_BYTES)
    head = log.read(_LOG_KEPT_BYTES)
    log.seek(size - _LOG_KEPT_BYTES)
    tail = log.read(_LOG_KEPT_BYTES)
    left_out = f"\n... {size - len(head) - len(tail)} bytes left out ...\n"
    return head + left_out.encode() + tail


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
