"""The referee's handle on the fork server, which gives it one on each child."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, final

from pytest_kernelbench.errors import SandboxError
from pytest_kernelbench.sandbox.channel import Channel, ChannelError, Silent
from pytest_kernelbench.sandbox.child import Child
from pytest_kernelbench.sandbox.import_paths import boot
from pytest_kernelbench.sandbox.lasting import LastingProcess
from pytest_kernelbench.sandbox.log import Log
from pytest_kernelbench.sandbox.plan import Born, FromServer, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PASSED_ON = frozenset({
    "PATH", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TZ", "MAX_JOBS", "CC", "CXX",
    "THUNDERKITTENS_ROOT",
    # By name: hosts of models have their key in NVIDIA_API_KEY.
    "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
})  # fmt: skip
_PASSED_ON_FROM = (
    "LC_", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "GOMP_", "CUDA_", "TORCH_", "TRITON_", "HIP_",
    "ROCR_", "ROCM_", "PYTORCH_", "CUTLASS_",
)  # fmt: skip
"""Beginnings: what settles one library."""
_START_TIMEOUT_S = 120.0
_END_PATIENCE_S = 1.0
_ENTRY = "pytest_kernelbench.sandbox.server:serve"


def _passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """What libraries and compilers need of the user's environment, and nothing else of it."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_FROM)
    }


@final
class ForkServer:
    """A warm process that children are forked from. Use as a context manager, or ``close`` it."""

    def __init__(
        self, preload: Iterable[str] = (), settle: Mapping[str, str] | None = None
    ) -> None:
        """``settle`` holds what libraries look for in the environment when they are imported.

        Raises ``SandboxError``.
        """
        environment = _passed_on(os.environ) | dict(settle or {})
        with contextlib.ExitStack() as undo:
            try:
                self._start(list(preload), environment, undo)
            except OSError as error:
                message = f"the fork server cannot be started: {error}"
                raise SandboxError(message) from error
            undo.pop_all()
        self._ready = False

    def _start(
        self, preload: list[str], environment: dict[str, str], undo: contextlib.ExitStack
    ) -> None:
        self._log = undo.enter_context(Log())
        ours, theirs = socket.socketpair()
        undo.enter_context(ours)
        with theirs:
            self._process = LastingProcess(
                [sys.executable, *boot(_ENTRY, theirs.fileno(), preload)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd="/",
            )
        self._channel: Channel[FromServer] = Channel(ours, FromServer)

    def _await_ready(self) -> None:
        if self._ready:
            return
        sock = self._channel.socket
        sock.settimeout(_START_TIMEOUT_S)
        try:
            hello = sock.recv(1)
        except TimeoutError:
            hello = b""
        sock.settimeout(None)
        if not hello:
            said = self._said()
            self.close()
            raise SandboxError(f"the fork server did not start; it said: {said}")
        self._ready = True

    def _said(self) -> str:
        return self._log.tail(2000) or "(nothing)"

    def spawn(self, plan: Plan, accepts: object, limit_bytes: int = 16 << 20) -> Child:
        """Fork a child; ``accepts`` is the type of the messages it may send.

        Raises ``SandboxError``; a server that died forks nothing more, and is to be replaced.
        """
        try:
            self._await_ready()
            return self._fork(plan, accepts, limit_bytes)
        except ChannelError as error:
            how = "hangs" if isinstance(error, Silent) else "died"
            message = f"the fork server {how}, and starts no {plan.entry}; it said: {self._said()}"
            raise SandboxError(message) from error
        except OSError as error:
            message = f"a child process for {plan.entry} could not start: {error}"
            raise SandboxError(message) from error

    def _fork(self, plan: Plan, accepts: object, limit_bytes: int) -> Child:
        Path(plan.scratch).mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as undo:
            log = undo.enter_context(Log())
            ours, theirs = socket.socketpair()
            undo.enter_context(ours)
            with theirs:
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                status_r, status_w = os.pipe()
                undo.callback(os.close, status_r)
                try:
                    fds = (theirs.fileno(), status_w, log.fileno())
                    self._channel.send(plan, fds, _START_TIMEOUT_S)
                    answer, _ = self._channel.receive(_START_TIMEOUT_S)
                finally:
                    os.close(status_w)
            if not isinstance(answer, Born):
                message = f"a child process for {plan.entry} could not start: {answer.reason}"
                raise SandboxError(message) from answer.cause()
            undo.pop_all()
        child = Child(answer, answer.pid, Channel(ours, accepts, limit_bytes), status_r, log)
        try:
            child.pid = _hear_who(ours)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        except BaseException:
            child.kill()
            raise
        return child

    def close(self) -> None:
        """End the server; children that are still there die with it."""
        self._channel.close()
        if self._ready:  # else it imports for seconds yet, and has no children
            self._process.ended(_END_PATIENCE_S)
        self._process.end()
        self._log.close()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _hear_who(sock: socket.socket) -> int:
    sock.settimeout(_START_TIMEOUT_S)
    _, ancillary, _, _ = sock.recvmsg(1, socket.CMSG_SPACE(12))
    sock.settimeout(None)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid: int = struct.unpack("3i", data[:12])[0]
            return pid
    raise SandboxError("a child process ended before it could say who it is")
