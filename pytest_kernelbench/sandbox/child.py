"""The referee's handle on a child: look at it, freeze it, read it, end it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import threading
import time
from typing import Any

from pytest_kernelbench.errors import MachineError, Restless
from pytest_kernelbench.sandbox import kernel
from pytest_kernelbench.sandbox.channel import Channel
from pytest_kernelbench.sandbox.log import Log
from pytest_kernelbench.sandbox.plan import ALL_STOPPED, ENDING, STOP_ALL, Born
from pytest_kernelbench.sandbox.tree import (
    alive,
    born_s,
    cpu_ns,
    descendants,
    frozen,
    kills_for_memory,
    send,
    stop,
    uptime_s,
)

_KILL_PATIENCE_S = 60.0
"""Who is in a call of a driver, or has hundreds of GiB to give back, takes seconds to die."""
_NAMED = 5
_KILL_PAUSE_S = 0.005
_READ_PATIENCE_S = 30.0
_ACK_PATIENCE_S, _ACK_PAUSE_S = 30.0, 0.0002
_ACK_LATE_NS = 20_000_000
"""Until then who lives too briefly to be told may have worked, and have ended unseen."""
_STOPPING_NS = 100_000
"""What it takes to stop."""
_ENDED_NS = 1_000_000_000
_BORN_GRAIN_S = 0.01
"""The kernel's ticks, by which it tells when a process began."""
_QUIET_LOOKS = 2
"""One look at all processes is not enough: one seen last may have woken one seen first."""


class Child:
    """A process below the fork server, with everything that it starts."""

    def __init__(
        self, born: Born, pid: int, channel: Channel[Any], status_fd: int, log: Log
    ) -> None:
        self.pid = pid
        self.init_pid = born.pid
        self.walls = born.walls
        self.missing_walls = born.missing
        self.channel = channel
        self._status_fd = status_fd
        self._log = log
        self._status: int | None = None
        self.held_bytes = 0
        """Host memory of all its processes, if it was ended for that; known once it has ended."""
        self._stops_all = born.stops_all
        self._stops_left = 0
        """How often init was asked to stop everything, and has not yet said that it did."""
        self._still: dict[int, int] = {}
        """Processor time of each process when all had stopped."""
        self._stopped_ns, self._stopped_s = 0, 0.0
        self._kills_before = kills_for_memory()

    def log_tail(self, size_bytes: int = 4000) -> str:
        """The end of what it printed."""
        return self._log.tail(size_bytes)

    def ended(self, wait_s: float = 0.0) -> int | None:
        """The raw wait status if it ended by itself within ``wait_s`` seconds, else None."""
        if self._status is None:
            deadline = time.monotonic() + wait_s
            os.set_blocking(self._status_fd, False)
            while True:
                with contextlib.suppress(BlockingIOError):
                    data = os.read(self._status_fd, ENDING.size)
                    if len(data) == ENDING.size and not self._take(*ENDING.unpack(data)):
                        continue
                    break
                if time.monotonic() >= deadline:
                    break
                time.sleep(0.001)
        return self._status

    def _take(self, status: int, held_bytes: int) -> bool:
        """Note a report of init's; False if it does not speak of the end."""
        if status == ALL_STOPPED:
            self._stops_left -= 1
            return False
        self._status, self.held_bytes = status, held_bytes
        return True

    def starved(self) -> bool:
        """Whether the kernel has killed somebody for lack of memory since it was born."""
        return kills_for_memory() > self._kills_before

    def processes(self) -> list[int]:
        """The pids of everything alive below (and with) its init."""
        return [self.init_pid, *descendants(self.init_pid)] if alive(self.init_pid) else []

    def stop(self, patience_s: float = 1.0) -> int:
        """Freeze it and all its descendants (SIGSTOP).

        Gives the time since when nothing of it works, by ``time.perf_counter_ns``. Raises
        ``Restless`` if some keep waking each other, or init does not say that all have stopped.
        """
        told, told_ns = self._tell_all()
        since_ns = self._settle(told, told_ns, patience_s)
        self._stopped_ns, self._stopped_s = time.perf_counter_ns(), uptime_s()
        found = descendants(self.init_pid)
        self._still = {pid: cpu_ns(pid) for pid in found if alive(pid)}
        return since_ns

    def _tell_all(self) -> tuple[set[int], int]:
        """Tell all to stop: who was found, and when the last of all had been told."""
        # First of all, before anything is looked up: what works until it is told works for nothing.
        if self._stops_all:
            self._stops_left += 1
            send(self.init_pid, STOP_ALL)
        stop(self.pid)
        known = set(descendants(self.init_pid))
        for pid in known:
            stop(pid)
        told_ns = time.perf_counter_ns()
        self._await_stopped()
        late = time.perf_counter_ns() - told_ns > _ACK_LATE_NS
        if late or not known.issuperset(descendants(self.init_pid)):
            told_ns = time.perf_counter_ns()
        return known, told_ns

    def _settle(self, told: set[int], told_ns: int, patience_s: float) -> int:
        """Tell whoever is awake, until nobody is: since when nothing works."""
        deadline = time.monotonic() + patience_s
        late: dict[int, int] = {}
        seen_ns = quiet = 0
        while quiet < _QUIET_LOOKS:
            awake = [pid for pid in descendants(self.init_pid) if not frozen(pid)]
            quiet = 0 if awake else quiet + 1
            for pid in awake:
                if pid in told:
                    late.setdefault(pid, cpu_ns(pid))
                stop(pid)
            if late and not seen_ns:
                seen_ns = time.perf_counter_ns()
            if not told.issuperset(awake):
                told_ns = time.perf_counter_ns()
                told.update(awake)
            if awake and time.monotonic() > deadline:
                raise Restless(f"{len(awake)} of its processes do not stand still when stopped")
        # On a busy machine a process may have to wait for its turn until it stops, and does nothing
        # meanwhile. What was woken again, or is kept busy by a system call, goes on for a while.
        worked_ns = sum(max(0, cpu_ns(pid) - before) for pid, before in late.items())
        return told_ns if worked_ns < _STOPPING_NS else max(told_ns, seen_ns) + worked_ns

    def _await_stopped(self) -> None:
        """Wait until init has stopped what there is: also what lives too briefly to be seen.

        It answers between looks at two processes, and has to have its turn: where a machine is busy
        that takes a while, and accuses nobody.
        """
        deadline = time.monotonic() + _ACK_PATIENCE_S
        while self.ended() is None and self._stops_left and alive(self.init_pid):
            if time.monotonic() > deadline:
                raise Restless(f"whether all have stopped is not known after {_ACK_PATIENCE_S:g} s")
            time.sleep(_ACK_PAUSE_S)

    def resume(self) -> tuple[int, int]:
        """Let it and all its descendants go on (SIGCONT).

        Gives the processor time in nanoseconds that they have used since ``stop``, and how long
        ago that was. A timer of the kernel's can send SIGCONT, too. Who has ended since then, which
        only who goes on can do, has used more than anybody may.
        """
        found = descendants(self.init_pid)
        worked_ns = self._worked_ns(found)
        stopped_ns = time.perf_counter_ns() - self._stopped_ns if self._still else 0
        self._still = {}
        for pid in found:
            send(pid, signal.SIGCONT)
        return worked_ns, stopped_ns

    def _worked_ns(self, found: list[int]) -> int:
        if not self._still or not alive(self.pid):
            return 0  # it was not stopped; or it has ended, and whoever waits for it is told how
        worked_ns = 0
        for pid, before in self._still.items():
            worked_ns += max(0, cpu_ns(pid) - before) if alive(pid) else _ENDED_NS
        # A list of processes may lack one that was there all the time.
        new = (pid for pid in found if pid not in self._still)
        young = (pid for pid in new if born_s(pid) > self._stopped_s - _BORN_GRAIN_S)
        return worked_ns + sum(map(cpu_ns, young))

    def read(self, address: int, into: int, size_bytes: int) -> None:
        """Copy from its memory to ours.

        Raises ``OSError``: also where pages are filled by somebody who does not fill them. Only the
        end of the process ends such a wait; where it does not, ``MachineError``.
        """
        failures: list[OSError] = []

        def copy() -> None:
            try:
                kernel.read_memory(self.pid, address, into, size_bytes)
            except OSError as error:
                failures.append(error)

        reader = threading.Thread(target=copy, daemon=True)
        reader.start()
        reader.join(_READ_PATIENCE_S)
        if reader.is_alive():
            self._end()
            reader.join(_KILL_PATIENCE_S)
            if reader.is_alive():
                message = f"memory of process {self.pid} is still being read, though it was killed"
                raise MachineError(f"{message} {_KILL_PATIENCE_S:g} s ago; dmesg may say why")
            raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        if failures:
            raise failures[0]

    def readable(self) -> bool:
        """Whether the kernel lets us read its memory at all.

        That is looked at before the address, and there is never anything at the first one.
        """
        byte = ctypes.c_char()
        try:
            kernel.read_memory(self.pid, 0, ctypes.addressof(byte), 1)
        except OSError as error:
            return error.errno == errno.EFAULT
        return True

    def kill(self) -> None:
        """End it with all its descendants, wait until they are gone, and forget it.

        Raises ``MachineError`` where the kernel or a driver does not let some go.
        """
        try:
            self._end()
        finally:
            self.channel.close()
            if self._status_fd >= 0:
                os.close(self._status_fd)
                self._status_fd = -1
            self._log.close()

    def _end(self) -> None:
        deadline = time.monotonic() + _KILL_PATIENCE_S
        born: dict[int, float] = {}
        while True:
            for pid in self.processes():
                born.setdefault(pid, born_s(pid))
            # Also without their init, which may be gone first; and nobody who has got their number.
            left = [pid for pid, at_s in born.items() if alive(pid) and born_s(pid) == at_s]
            if not left:
                return
            if time.monotonic() > deadline:
                message = (
                    f"{len(left)} processes still live {_KILL_PATIENCE_S:g} s after they were "
                    f"killed ({', '.join(map(str, left[:_NAMED]))}): the kernel or a driver holds "
                    "them, and what they hold is not free; dmesg may say why"
                )
                raise MachineError(message)
            for pid in reversed(left):
                send(pid, signal.SIGKILL)
            time.sleep(_KILL_PAUSE_S)
