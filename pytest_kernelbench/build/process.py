"""Run a build child in a session of its own, bounded in time and output, and end it whole."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pytest_kernelbench.build.job import LOG_FILE
from pytest_kernelbench.build.toolchain import import_paths
from pytest_kernelbench.errors import MachineError

if TYPE_CHECKING:
    from pytest_kernelbench.build.job import Job

_LOG_LIMIT_BYTES = 64 << 20
_LOG_KEPT_BYTES = 1 << 20
_LOOK_EVERY_S = 0.05
_BOOT = (
    "import json, sys; paths, folder = json.loads(sys.argv[1]);"
    "sys.path += [path for path in paths if path not in sys.path];"
    "from pytest_kernelbench.build.child import limit, main; limit(folder); main(folder)"
)


@dataclass(frozen=True)
class End:
    """How a build child ended."""

    exit_status: int
    """As of ``subprocess``: negative for a signal."""
    seconds: float
    stopped: str = ""
    """Why it was ended before its time; empty if it ended by itself."""


def run_child(job: Job, timeout_s: float, cancelled: threading.Event) -> End:
    """Run the child of ``job`` to its end; what it prints goes to the work folder's log.

    Raises ``MachineError`` where it cannot start, and once ``cancelled`` is set.
    """
    folder = Path(job.folder)
    arguments = json.dumps([import_paths(), job.folder])
    started = time.monotonic()
    try:
        with (folder / LOG_FILE).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=job.environment,
                cwd=Path(job.solution).parent,
                start_new_session=True,
            )
    except OSError as error:
        message = f"a build child could not be started in {folder}: {error}"
        raise MachineError(message) from error
    try:
        stopped = _watch(process, folder / LOG_FILE, timeout_s, cancelled)
    finally:
        _end_all(process)
    _trim(folder / LOG_FILE)
    return End(process.returncode, time.monotonic() - started, stopped)


def _watch(
    process: subprocess.Popen[bytes], log: Path, timeout_s: float, cancelled: threading.Event
) -> str:
    deadline = time.monotonic() + timeout_s
    while True:
        # Not reaped yet: until its group is killed, its number must not go to another process.
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return ""
        if time.monotonic() > deadline:
            return f"the build took longer than {timeout_s:g} s (--kb-build-timeout)"
        if log.stat().st_size > _LOG_LIMIT_BYTES:
            return f"it printed more than {_LOG_LIMIT_BYTES >> 20} MiB"
        if cancelled.wait(_LOOK_EVERY_S):
            message = "the build was ended because the session is over"
            raise MachineError(message)


def _trim(log: Path) -> None:
    """Keep the beginning and the end of a log that is longer than anyone reads."""
    size = log.stat().st_size
    if size <= 2 * _LOG_KEPT_BYTES:
        return
    with log.open("rb") as file:
        head = file.read(_LOG_KEPT_BYTES)
        file.seek(size - _LOG_KEPT_BYTES)
        tail = file.read(_LOG_KEPT_BYTES)
    left_out = f"\n... {size - len(head) - len(tail)} bytes left out ...\n"
    log.write_bytes(head + left_out.encode() + tail)


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """Kill the child's group, and descendants that left it while they can still be found."""
    descendants: list[psutil.Process] = []
    with contextlib.suppress(psutil.NoSuchProcess):
        descendants = psutil.Process(process.pid).children(recursive=True)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for descendant in descendants:
        with contextlib.suppress(psutil.NoSuchProcess):
            descendant.kill()
    process.wait()
