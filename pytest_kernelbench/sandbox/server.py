"""The fork server: a clean process that forks children on request.

It has torch imported and touches no CUDA.

Each child has an *init* above it, which adopts orphans, and dies with everything below it:

    referee -> fork server -> keeper -> init (pid 1 of its namespace) -> child
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
import tempfile
import traceback
from functools import partial
from typing import TYPE_CHECKING, NoReturn, final

import msgspec

from pytest_kernelbench.sandbox import kernel, walls
from pytest_kernelbench.sandbox.appetite import held_bytes
from pytest_kernelbench.sandbox.channel import Channel, Closed, close_all
from pytest_kernelbench.sandbox.init import HEARD, end_descendants, watch
from pytest_kernelbench.sandbox.interpreter import Interpreter
from pytest_kernelbench.sandbox.plan import ALL_STOPPED, ENDING, STOP_ALL, Born, Plan, Stillborn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_REST = 20
"""Looking at many processes takes a while: no more than one part in so many of the time."""
_SHARED_BYTES = 1 << 30
"""In /dev/shm, for who has no bound of memory."""
_BY_KILL = 0
"""The kernel's SI_USER."""
_END_PATIENCE_S, _LAST_PATIENCE_S = 5.0, 60.0


def serve(control_fd: int, preload: list[str]) -> None:
    """Import ``preload``, then fork a child for each ``Plan`` until the referee's end closes.

    Each request comes with three descriptors: the child's socket, a pipe for its wait status, its
    log file.
    """
    kernel.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the referee's to handle
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel
    _preload(preload)
    gc.freeze()  # a child that collects its garbage does not go through all of torch each time
    walls.pid_namespace_refusal()  # asked once here; every child inherits the answer
    interpreter = Interpreter()
    channel: Channel[Plan] = Channel(socket.socket(fileno=control_fd), Plan)
    channel.socket.sendall(b"!")
    while True:
        try:
            plan, fds = channel.receive()
        except Closed:
            interpreter.mend()  # keepers of children that are still there end with this process
            return
        channel.send(_spawn(plan, fds, interpreter))
        close_all(fds)


def _preload(names: list[str]) -> None:
    """Import without waking the driver: torch.utils.cpp_extension asks for a GPU at import.

    Through the CUDA runtime (the default) the question would forbid CUDA to every child; through
    NVML with devices in sight it would leave them a library whose descriptors are closed, which
    then counts no device.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ.update(PYTORCH_NVML_BASED_CUDA_CHECK="1", CUDA_VISIBLE_DEVICES="")
    for name in names:
        importlib.import_module(name)
    del os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"], os.environ["CUDA_VISIBLE_DEVICES"]
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible


def _spawn(plan: Plan, fds: tuple[int, ...], interpreter: Interpreter) -> Born | Stillborn:
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.close(read_end)
        _keeper(plan, fds, interpreter, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read()
    if not answer:
        return Stillborn("the keeper process died before it could start the child")
    return msgspec.msgpack.decode(answer, type=Born | Stillborn)


def _keeper(plan: Plan, fds: tuple[int, ...], interpreter: Interpreter, answer_fd: int) -> NoReturn:
    """Leave the namespaces, start init, tell its pid, and live as long as it does."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        walls.reset_signals()
        os.setsid()
        raised = walls.Walls()
        raised.up.append("own session")
        new_pids = plan.untrusted and walls.raise_outer(raised)
        sock_fd, status_fd, log_fd = fds
        walls.close_descriptors({sock_fd, status_fd, log_fd, answer_fd, interpreter.fd})
        report_r, report_w = os.pipe()
        init = os.fork()
        if init == 0:
            os.close(report_r)
            os.close(answer_fd)
            os.close(interpreter.fd)
            answer_fd = report_w  # what fails from here on is told there
            if new_pids:
                walls.raise_proc(raised)
            if new_pids and not plan.gpu:  # where the driver keeps files of its own
                walls.raise_shared_memory(raised, plan.tree_bytes or _SHARED_BYTES)
            _init(plan, raised, sock_fd, status_fd, log_fd, report_w)
        # Only now: a child would inherit it, and could not be read by the referee.
        kernel.hide_memory()
        os.close(report_w)
        with os.fdopen(report_r, "rb") as pipe:
            report = _decoded(pipe.read())
        if isinstance(report, Stillborn):
            _answer(answer_fd, report)
        else:
            up, missing = map(tuple, report)
            _answer(answer_fd, Born(init, up, missing, new_pids))
        walls.close_descriptors({interpreter.fd})
        os.waitpid(init, 0)
        interpreter.mend()
    except BaseException as error:  # noqa: BLE001 - this process must never run the server's code
        _answer(answer_fd, Stillborn.of(error))
    os._exit(0)


def _decoded(report: bytes) -> tuple[list[str], list[str]] | Stillborn:
    """Walls that are up and that are missing, or why there are none."""
    if not report:
        return Stillborn("it was killed before its walls were up")
    return msgspec.msgpack.decode(report, type=tuple[list[str], list[str]] | Stillborn)


def _answer(fd: int, answer: Born | Stillborn) -> None:
    try:
        os.write(fd, msgspec.msgpack.encode(answer))
        os.close(fd)
    except OSError:
        os._exit(1)  # answered before, or nobody listens: the server sees an empty pipe


def _init(  # noqa: PLR0913, PLR0917 - a descriptor each
    plan: Plan, raised: walls.Walls, sock_fd: int, status_fd: int, log_fd: int, report_fd: int
) -> NoReturn:
    """Be pid 1: start the child, reap whatever is orphaned, end all of it when the child ends."""
    kernel.die_with_parent(signal.SIGKILL)
    kernel.adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)
    if plan.tree_bytes is not None:
        raised.up.append("memory of all its processes")
    child = os.fork()
    if child == 0:
        os.close(status_fd)
        _child(plan, raised, sock_fd, log_fd, report_fd)
    kernel.hide_memory()
    walls.close_descriptors({status_fd})
    orders = _Orders(status_fd)
    look = (
        None
        if plan.tree_bytes is None
        else partial(_too_much, plan.tree_bytes, orders.poll, raised.shared_memory)
    )
    status, held = watch(child, look, orders.obey, _REST)
    end_descendants(_END_PATIENCE_S)
    os.write(status_fd, ENDING.pack(status, held or 0))
    # Told already. Who takes longer to die is not left without an init.
    if left := end_descendants(_LAST_PATIENCE_S):
        os.write(1, f"{left} processes of a child do not end, though killed\n".encode())
    os._exit(0)


def _too_much(
    limit_bytes: int, between: Callable[[], None], folder: Path | None, pids: list[int]
) -> int:
    """What ``pids`` hold, if that is above the limit, else 0."""
    found = held_bytes(pids, limit_bytes, between, folder)
    return found if found > limit_bytes else 0


@final
class _Orders:
    """To stop every process of the namespace: done at once, and said."""

    def __init__(self, status_fd: int) -> None:
        self._status_fd = status_fd

    def poll(self) -> None:
        """Obey what has come meanwhile."""
        if (heard := signal.sigtimedwait({STOP_ALL}, 0)) is not None:
            self.obey(heard)

    def obey(self, heard: signal.struct_siginfo) -> None:
        """By one system call, which the kernel does not let a fork run away from.

        Who goes through /proc misses processes that live just long enough to start the next. Obeyed
        is who has no number in the namespace: whoever is inside, and may be gone already, has one,
        and can deny it only by a signal of another kind.
        """
        if os.getpid() != 1 or heard.si_pid or heard.si_code != _BY_KILL:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGSTOP)
        os.write(self._status_fd, ENDING.pack(ALL_STOPPED, 0))


def _child(plan: Plan, raised: walls.Walls, sock_fd: int, log_fd: int, report_fd: int) -> NoReturn:
    """Become the child: own descriptors, environment and walls; then run the entry."""
    code, reported = 1, False
    try:
        kernel.die_with_parent(signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(log_fd, 1)
        os.dup2(log_fd, 2)
        walls.close_descriptors({sock_fd, report_fd})
        environment = walls.own_environment(plan)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None  # a preloaded library may have asked for the server's own
        os.chdir(os.path.join(plan.scratch, walls.WORK_FOLDER))
        if plan.untrusted:
            walls.raise_inner(raised, plan)
        else:
            kernel.hide_memory()
        os.write(report_fd, msgspec.msgpack.encode((raised.up, raised.missing)))
        os.close(report_fd)
        reported = True
        sock = socket.socket(fileno=sock_fd)
        walls.say_who(sock)
        module, _, function = plan.entry.partition(":")
        getattr(importlib.import_module(module), function)(sock)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException as error:  # noqa: BLE001 - told, or printed to the child's log
        traceback.print_exc()
        if not reported:
            _answer(report_fd, Stillborn.of(error))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
