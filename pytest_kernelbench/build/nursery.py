"""A warm interpreter that build children are forked from: importing torch takes seconds.

    builder  --socket-->  nursery  --fork-->  keeper, its own session  --fork-->  build child

The nursery runs no solution's code. When its builder dies, so does it, and all that is below it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.sandbox import kernel
from pytest_kernelbench.sandbox.descriptors import send_with
from pytest_kernelbench.sandbox.import_paths import boot
from pytest_kernelbench.sandbox.interpreter import Interpreter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PRELOAD = ("torch", "torch.utils.cpp_extension", "pytest_kernelbench.build.child")
_WORD = struct.Struct("<iq")
"""A pid, or an exit status with the CPU time in milliseconds."""
_MESSAGE_BYTES = 1 << 20
_START_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Newborn:
    """A child that has begun. Its pid stays its own until its status can be read."""

    pid: int
    """Of its keeper, which leads the session and the process group."""
    status_fd: int

    def ended(self, wait_s: float) -> tuple[int, float] | None:
        """Exit status (negative for a signal) and CPU seconds; None if it goes on."""
        try:
            status, cpu_ms = _read_word(self.status_fd, wait_s)
        except TimeoutError:
            return None
        except OSError:
            return -signal.SIGKILL, 0.0  # its keeper was killed, and it with it
        return status, cpu_ms / 1000

    def close(self) -> None:
        """Let go of it."""
        os.close(self.status_fd)


class Nursery:
    """The builder's end. Thread-safe; the process behind it starts with the first child."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # torch.utils.cpp_extension asks for a GPU when it is imported. Through the CUDA runtime
        # (the default) the question alone would spoil CUDA for every child.
        self._environment = {**environment, "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._over = False

    def spawn(self, folder: Path, cwd: Path, log: int, environment: Mapping[str, str]) -> Newborn:
        """Fork the build child of ``folder``, which prints to ``log``. Raises ``MachineError``."""
        request = json.dumps([str(folder), str(cwd), dict(environment)]).encode()
        with self._lock:
            for last in (False, True):
                try:
                    return self._ask(request, log)
                except OSError as error:  # It died: of a lack of memory, say. Once more, afresh.
                    self._end()
                    if last:
                        message = f"no build child can be started: {error}"
                        raise MachineError(message) from error
        raise AssertionError

    def refuse(self) -> None:
        """Start nothing more; whoever waits for the process to get ready waits no longer.

        Children that have begun go on: ``close`` ends them.
        """
        self._over = True
        starting = self._process
        if starting is not None and self._socket is None:
            starting.kill()

    def close(self) -> None:
        """End it, with every child that is still there."""
        with self._lock:
            self._end()

    def _ask(self, request: bytes, log: int) -> Newborn:
        server = self._socket or self._start()
        read_end, write_end = os.pipe()
        try:
            try:
                send_with(server, request, (write_end, log))
            finally:
                os.close(write_end)
            pid, _ = _read_word(read_end, _START_TIMEOUT_S)
        except OSError:
            os.close(read_end)
            raise
        return Newborn(pid, read_end)

    def _start(self) -> socket.socket:
        if self._over:
            message = "no build child can be started: the session is over"
            raise MachineError(message)
        # Whole messages, with their descriptors: a stream would have to be cut up again.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as undo:
            undo.enter_context(ours)
            self._run(ours, theirs)
            undo.pop_all()
        self._socket = ours
        return ours

    def _run(self, ours: socket.socket, theirs: socket.socket) -> None:
        with theirs, tempfile.TemporaryFile() as said:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "utf8", *boot(f"{__name__}:serve", theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            if self._over:  # since it was asked above
                self._process.kill()
            ours.settimeout(_START_TIMEOUT_S)
            if ours.recv(1) != b"!":
                said.seek(0)
                words = said.read().decode(errors="replace").strip()[-2000:]
                message = f"the process that builds are forked from did not start: {words}"
                raise MachineError(message)

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._socket = self._process = None


def serve(fd: int) -> None:
    """In the nursery: import, then fork a child for each request until the builder is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the builder's to handle
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel
    for name in PRELOAD:
        importlib.import_module(name)
    interpreter = Interpreter()
    server = socket.socket(fileno=fd)
    server.send(b"!")
    while True:
        request, fds, _, _ = socket.recv_fds(server, _MESSAGE_BYTES, 2)
        if not request:
            return
        if os.fork() == 0:
            server.close()
            _keep(request, interpreter, *fds)
        for received in fds:
            os.close(received)


def _keep(request: bytes, interpreter: Interpreter, status_fd: int, log_fd: int) -> NoReturn:
    """Be the keeper: start the child, tell its number, wait, and tell how it ended."""
    kernel.die_with_parent(signal.SIGKILL)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.write(status_fd, _WORD.pack(os.getpid(), 0))
    child = os.fork()
    if child == 0:
        os.close(status_fd)
        _become(request, log_fd)
    _, status = os.waitpid(child, 0)
    interpreter.mend()
    number = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    spent = os.times()
    cpu_ms = int(1000 * (spent.children_user + spent.children_system))
    os.write(status_fd, _WORD.pack(number, cpu_ms))
    os._exit(0)


def _become(request: bytes, log_fd: int) -> NoReturn:
    """Be the child: own environment, folder and log; then walls and the build."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        folder, cwd, environment = json.loads(request)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, source in enumerate((null, log_fd, log_fd)):
            os.dup2(source, number)
        os.closerange(3, 256)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(cwd)
        from pytest_kernelbench.build.child import limit, main

        limit(folder)
        main(folder)
    except BaseException:  # noqa: BLE001 - into the log; this process must not run the nursery's code
        traceback.print_exc()
    os._exit(1)


def _read_word(fd: int, wait_s: float) -> tuple[int, int]:
    """What the keeper wrote; raises ``TimeoutError``, or ``OSError`` if it is gone."""
    if not select.select([fd], [], [], wait_s)[0]:
        raise TimeoutError
    data = os.read(fd, _WORD.size)
    if len(data) < _WORD.size:
        message = "the build child's keeper is gone"
        raise ConnectionError(message)
    number, cpu_ms = _WORD.unpack(data)
    return number, cpu_ms
