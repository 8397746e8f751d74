"""The engine's handle on the process that judges on one device."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, final

from pytest_kernelbench.engine import orders
from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.folders import owned_folder, remove_tree, sweep_owned
from pytest_kernelbench.sandbox.channel import Channel, ChannelError, Silent
from pytest_kernelbench.sandbox.import_paths import boot
from pytest_kernelbench.sandbox.lasting import LastingProcess
from pytest_kernelbench.sandbox.log import Log
from pytest_kernelbench.sandbox.tree import alive, cpu_ns, descendants, send, signal_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_ENTRY = "pytest_kernelbench.engine.seat_process:serve"
_FOLDER = "kb-seat-"
_END_PATIENCE_S = 1.5
_LOOK_EVERY_S = 0.01
_AWAIT_S = 30.0
_READ_PATIENCE_S = 600.0
"""For one message: it is read when the fork server has begun to start, which reads torch."""
_IDLE_S = 7200.0
"""A judge waits an hour at most for the device, and ten minutes for an oracle or a compiler."""
_TOLD_BYTES = 4000


class Dismissed(Exception):  # noqa: N818 - what it is, not what went wrong
    """The seat was closed while it judged: there will be no verdict."""


class Idle(Exception):  # noqa: N818 - likewise
    """The process that judges has neither spoken nor used a processor for long."""


@final
class Seat:
    """One device. Used by one thread at a time, but for ``close``.

    ``controls``: whether it also races the reference against itself.
    """

    def __init__(self, settings: Settings, device: Device, *, controls: bool = True) -> None:
        self.device = device
        self._settings = settings
        self._controls = controls
        self._guard = threading.Lock()
        self._process: _Process | None = None
        self._closed = False

    def open(self) -> None:
        """Start the process, if there is none: it gets itself ready while others build.

        Raises ``MachineError`` where none can be started, ``Dismissed`` once the seat is closed.
        """
        with self._guard:
            if self._closed:
                raise Dismissed
            if self._process is None:
                opening = (self._settings, self.device, self._controls)
                order = orders.Order(pickle.dumps(opening))
                self._process = _Process(order, self.device.uuid)

    def judge(self, pair: Pair, extension: Extension, tell: Callable[[str], None]) -> Verdict:
        """The verdict; once more, by a fresh process, if the machine failed.

        ``tell`` gets a sentence while somebody else holds the device. Raises ``MachineError`` if it
        failed twice, ``Dismissed`` if ``close`` was called meanwhile.
        """
        try:
            return self._judge(pair, extension, tell)
        except _AnotherTry:
            self._end()
        try:
            return self._judge(pair, extension, tell)
        except _AnotherTry as error:
            self._end()
            raise MachineError(str(error)) from None

    def rest(self) -> None:
        """End the process, and what it holds on the device, until there is another pair."""
        self._end()

    def close(self) -> None:
        """End the process with all that is below it, whatever it does."""
        with self._guard:
            self._closed = True
        self._end()

    def _judge(self, pair: Pair, extension: Extension, tell: Callable[[str], None]) -> Verdict:
        self.open()
        process = self._process
        if process is None:
            raise Dismissed
        try:
            order = orders.Order(pickle.dumps((pair, extension)))
            process.channel.send(order, timeout_s=_READ_PATIENCE_S)
            while isinstance(answer := process.answer(self._patience_s), orders.Waiting):
                tell(answer.text)
        except Idle as idle:
            self._end()  # another would take as long until it is known to hang
            message = f"the process that judges on {self.device.name} hangs: {idle}"
            raise MachineError(message) from None
        except (ChannelError, OSError) as error:
            if self._closed:
                raise Dismissed from None
            raise _AnotherTry(process.epitaph(self.device, error)) from None
        if isinstance(answer, orders.Judged):
            # Once a session and device, whichever process does it.
            self._controls = self._controls and answer.verdict.control is None
            return answer.verdict
        raise (_AnotherTry if answer.again else MachineError)(answer.text)

    @property
    def _patience_s(self) -> float:
        return max(_IDLE_S, 2 * self._settings.timeout_s)

    def _end(self) -> None:
        with self._guard:
            process, self._process = self._process, None
        if process is not None:
            process.end()


class _AnotherTry(Exception):  # noqa: N818 - what comes of it
    """The machine failed, or the process died."""


class _Process:
    def __init__(self, opening: orders.Order, device_uuid: str) -> None:
        with ExitStack() as made:
            try:
                self._start(opening, device_uuid, made)
            except (OSError, ChannelError) as error:
                message = f"no process that judges can be started: {error}"
                raise MachineError(message) from error
            self._made = made.pop_all()

    def _start(self, opening: orders.Order, device_uuid: str, made: ExitStack) -> None:
        # All that is made for a pair lies here: who is killed cannot tidy up.
        place = Path(tempfile.gettempdir())
        sweep_owned(place, _FOLDER)
        folder = owned_folder(place, _FOLDER)
        made.callback(remove_tree, folder)
        self._log = made.enter_context(Log())
        ours, theirs = socket.socketpair()
        made.enter_context(ours)
        with theirs:
            self._process = LastingProcess(
                # The last word is there for the other seats of the device to know their like.
                [sys.executable, *boot(_ENTRY, theirs.fileno()), device_uuid],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": str(folder)},
                start_new_session=True,
            )
        made.callback(self._process.end)
        self.channel: Channel[orders.Answer] = Channel(ours, orders.Answer, orders.LIMIT_BYTES)
        self.channel.send(opening, timeout_s=_READ_PATIENCE_S)

    def answer(self, patience_s: float) -> orders.Answer:
        """What it says next, however long that takes.

        Raises ``Idle`` once it has not used any processor for ``patience_s``: that cuts off nobody
        who works, or who waits as long as a judge waits for others.
        """
        used_ns, since_s = 0, time.monotonic()
        while not self.channel.waiting(_AWAIT_S):
            now_ns, now_s = cpu_ns(self._process.pid), time.monotonic()
            if now_ns != used_ns or not now_ns:  # 0 where the kernel does not tell
                used_ns, since_s = now_ns, now_s
            elif now_s - since_s > patience_s:
                raise Idle(f"it has done nothing for {now_s - since_s:.0f} s")
        return self.channel.receive(_READ_PATIENCE_S)[0]

    def epitaph(self, device: Device, error: Exception) -> str:
        """What is known of its death, in one line, and what it printed."""
        status = self._process.ended(_END_PATIENCE_S)
        how = f"closed its channel ({type(error).__name__})"
        if isinstance(error, Silent):
            how = f"neither read nor wrote for {_READ_PATIENCE_S:g} s"
        if status is not None:
            how = f"ended with status {status}"
            if status < 0:
                how = f"died of {signal_name(-status)}"
        said = self._log.tail(_TOLD_BYTES)
        return f"the process that judges on {device.name} {how}\n{said}".strip()

    def end(self) -> None:
        below = descendants(self._process.pid)
        self._process.end()
        deadline_s = time.monotonic() + _END_PATIENCE_S
        # They die with it one after another; who is asked to directly is gone sooner.
        while (left := [pid for pid in below if alive(pid)]) and time.monotonic() < deadline_s:
            for pid in left:
                send(pid, signal.SIGKILL)
            time.sleep(_LOOK_EVERY_S)
        self._made.close()
