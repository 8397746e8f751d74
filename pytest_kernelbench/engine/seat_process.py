"""The process that judges on one device: a referee and the device's lease, one pair at a time.

A process and no thread of pytest's: what pytest prints, and what is judged on another device, would
hold up the clock for as long as Python's own lock is held.
"""

from __future__ import annotations

import errno
import os
import pickle
import signal
import socket
import tempfile
import time
import traceback
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_kernelbench.engine import orders
from pytest_kernelbench.errors import MachineError, SandboxError, origins
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.sandbox import kernel
from pytest_kernelbench.sandbox.channel import Channel, Closed
from pytest_kernelbench.sandbox.tree import ancestors, children, command
from pytest_kernelbench.timing.lease import lease
from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_kernelbench.build.extension import Extension
    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.judge.device import Device
    from pytest_kernelbench.settings import Settings
    from pytest_kernelbench.verdict import Verdict

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CROWDED = (errno.EAGAIN, errno.ENOMEM)
_NO_THREAD = "can't start new thread"
"""Python's words for the same: it has no exception of its own."""
_LEASE_PATIENCE_S = 3600.0
_TELL_AFTER_S = 1.0
_BOOT_WORDS = 4
"""How an engine starts a seat (``python -I -c ...``), without what differs between two of a device:
the last word is the device's."""


def serve(fd: int) -> None:
    """Judge whatever the engine sends until it goes away."""
    kernel.die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is pytest's to handle
    channel: Channel[orders.Order] = Channel(
        socket.socket(fileno=fd), orders.Order, orders.LIMIT_BYTES
    )
    try:
        opening, _ = channel.receive()
        # Pickled by the process that started this one, over a socket that nobody else has.
        settings, device, controls = pickle.loads(opening.pickled)  # noqa: S301
        _Seat(settings, device, channel, controls=controls).work()
    except Closed:
        return


class _Seat:
    def __init__(
        self,
        settings: Settings,
        device: Device,
        channel: Channel[orders.Order],
        *,
        controls: bool,
    ) -> None:
        self._settings = settings
        self._device = device
        self._channel = channel
        self._holds_quiet = False
        self._referee = Referee(
            settings, device, self._in_quiet, controls=controls, kin=_seats_beside
        )

    def work(self) -> None:
        try:
            with suppress(SandboxError):  # met again, and told, by the first pair
                self._referee.warm_up()
            while True:
                order, _ = self._channel.receive()
                pair, extension = pickle.loads(order.pickled)  # noqa: S301 - as above
                self._channel.send(self._answer(pair, extension))
        finally:
            self._referee.close()

    def _answer(self, pair: Pair, extension: Extension) -> orders.Judged | orders.Failed:
        try:
            return orders.Judged(self._judge(pair, extension))
        except Exception as error:  # noqa: BLE001 - whatever it is is told to whoever asked
            if (full := _full_disk(error)) is not None:
                place = full.filename or tempfile.gettempdir()
                advice = "make room, or set TMPDIR to a place that has some"
                return orders.Failed(f"the disk is full ({place}): {advice}", again=False)
            if isinstance(error, (MachineError, SandboxError)):
                return orders.Failed(str(error), again=True)
            if _is_crowded(error):
                why = f"this machine had no room for one more process or thread: {error}"
                return orders.Failed(why, again=True)
            return self._bug(error)

    @staticmethod
    def _bug(error: Exception) -> orders.Failed:
        trace = "".join(traceback.format_exception(error))
        text = f"the judge itself failed: {type(error).__name__}: {error}\n{trace}"
        return orders.Failed(text, again=False)

    def _judge(self, pair: Pair, extension: Extension) -> Verdict:
        if self._settings.correctness_only and not self._device.is_gpu:
            # Nothing is timed, and a CPU is shared anyway.
            return self._referee.judge(pair, extension)
        if self._device.is_gpu:
            self._referee.prepare(pair)
        told: list[str] = []
        start_s = time.monotonic()
        with lease(
            self._device.uuid,
            _LEASE_PATIENCE_S,
            on_wait=self._telling(told),
            tell_after_s=_TELL_AFTER_S,
        ):
            waited_s = time.monotonic() - start_s
            verdict = self._referee.judge(pair, extension)
            if verdict.status is Status.OUT_OF_MEMORY and self._device.is_gpu:
                # Another pair's problem may have been got ready meanwhile. Nobody does so now.
                with self._in_quiet():
                    again = self._referee.judge(pair, extension)
                # There is no second control: the first one's stands.
                verdict = replace(again, control=again.control or verdict.control)
        if not told:
            return verdict
        return replace(verdict, notes=(*verdict.notes, f"waited {waited_s:.0f} s: {told[0]}"))

    @contextmanager
    def _in_quiet(self) -> Iterator[None]:
        """Nobody is timed on the device, and no problem is got ready, but by this process.

        A lease of its own beside the device's: that one is held as long as there is a contender,
        which may be while another pair's problem is got ready.
        """
        if self._holds_quiet or not self._device.is_gpu:
            yield
            return
        with lease(f"{self._device.uuid}-quiet", _LEASE_PATIENCE_S):
            self._holds_quiet = True
            try:
                yield
            finally:
                self._holds_quiet = False

    def _telling(self, told: list[str]) -> Callable[[str, int], None]:
        def tell(text: str, pid: int) -> None:
            if pid in _seats_beside():  # they take turns all the time: no news
                return
            if _is_of_this_session(pid):
                text = f"{text.partition(', held by ')[0]}, held by another worker of this session"
            told.append(text)
            self._channel.send(orders.Waiting(text))

        return tell


def _full_disk(error: Exception) -> OSError | None:
    """What it came from, if that is a disk without room: another process fares no better."""
    found = (link for link in origins(error) if isinstance(link, OSError))
    return next((link for link in found if link.errno in _FULL), None)


def _is_crowded(error: Exception) -> bool:
    """Whether the machine refused a process, a thread or memory, which it may have again soon."""
    if isinstance(error, OSError):
        return error.errno in _CROWDED
    return isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD)


def _is_of_this_session(pid: int) -> bool:
    """Whether it is below the pytest whose worker (pytest-xdist's) has started this process."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return False
    above = ancestors(os.getppid())
    return bool(above) and above[0] in ancestors(pid)


def _seats_beside() -> list[int]:
    """This process and its like: judges of one engine on one device.

    Other children of the engine's process are strangers, and so is what is below another device's
    judge: a solution there that takes to this device.
    """
    mine = _kind(os.getpid())
    return [pid for pid in children(os.getppid()) if _kind(pid) == mine]


def _kind(pid: int) -> tuple[list[bytes], list[bytes]]:
    words = command(pid)
    return words[:_BOOT_WORDS], words[_BOOT_WORDS + 1 :]
