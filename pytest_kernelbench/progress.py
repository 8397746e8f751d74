"""How far a long session is: a line below pytest's own on a terminal, now and then one in a log."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.engine.protocol import Building
from pytest_kernelbench.reporting import ATTRIBUTE, TAKEN
from pytest_kernelbench.state import STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator

    from pytest_kernelbench.build.builder import Progress

TICK_S = 1.0
LOG_EVERY_S = 60.0
_FEW = 2
"""So many pairs are needed before anything can be said of the time that is left."""


class Count:
    """What is known of a session's pace; ``clock`` gives seconds."""

    def __init__(
        self, collected: Collection[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._collected = collected
        self._clock = clock
        self._began: float | None = None
        self.done = self.failed = self.taken = 0
        self._running: dict[str, None] = {}

    def start(self, nodeid: str) -> None:
        """An item has begun, here or in a worker; what is no pair says nothing of the pace."""
        if nodeid not in self._collected:
            return
        if self._began is None:
            self._began = self._clock()
        self._running[nodeid] = None

    def finish(self, nodeid: str) -> None:
        """It has ended."""
        self._running.pop(nodeid, None)

    def judged(self, *, failed: bool, taken: bool) -> None:
        """There is a verdict; ``taken`` from an earlier session, which says nothing of the pace."""
        self.done += 1
        self.failed += failed
        self.taken += taken

    def text(self, builds: Progress | None) -> str:
        """``kernelbench: 12 of 40 pairs, 2 failed; builds: ...; at level1/019_relu; ...``."""
        parts = [f"{self.done} of {len(self._collected)} pairs"]
        if self.failed:
            parts[0] += f", {self.failed} failed"
        if builds is not None and builds.unfinished:
            parts.append(f"builds: {builds}")
        if self._running:
            names = [nodeid.partition("[")[2].rstrip("]") or nodeid for nodeid in self._running]
            parts.append("at " + ", ".join(dict.fromkeys(names)))
        if (left_s := self.left_s()) is not None:
            parts.append(f"about {_span(left_s)} left")
        return "kernelbench: " + "; ".join(parts)

    def left_s(self) -> float | None:
        """Seconds at the pace so far; None while nobody can tell."""
        fresh = self.done - self.taken
        if self._began is None or fresh < _FEW or self.done >= len(self._collected):
            return None
        each_s = (self._clock() - self._began) / fresh
        return each_s * (len(self._collected) - self.done)


def _span(seconds: float) -> str:
    """``40 s``, ``6 min``, ``2.5 h``."""
    minute_s, hour_s = 60, 3600
    if seconds < minute_s:
        return f"{max(10, round(seconds, -1)):.0f} s"
    if seconds < hour_s:
        return f"{seconds / minute_s:.0f} min"
    return f"{seconds / hour_s:.1f} h"


class Terminal:
    """Writes a line below the cursor and leaves the cursor where it is; ``away`` it is not there.

    Whoever prints meanwhile writes as if there were no such line.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def show(self, text: str) -> None:
        """Make room below (this may scroll), remember the place, write, go back."""
        width = shutil.get_terminal_size().columns
        self._write(f"\x1bD\x1b[A\x1b7\r\x1b[B\x1b[2K{text[: width - 1]}\x1b8")

    def hide(self) -> None:
        """Erase what is below the cursor."""
        self._write("\x1b[J")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that was closed stops no session
            os.write(self._descriptor, text.encode(errors="replace"))


class Log:
    """Writes a line when a minute has gone by without one.

    ``reporter`` is pytest's, where it has a line for each item: it then begins the one that was
    broken off anew, so that an item's name and its outcome stand together.
    """

    def __init__(
        self,
        descriptor: int,
        clock: Callable[[], float] = time.monotonic,
        reporter: pytest.TerminalReporter | None = None,
    ) -> None:
        self._descriptor = descriptor
        self._clock = clock
        self._reporter = reporter
        self._last = clock()

    def show(self, text: str) -> None:
        """On a line of its own: pytest is mostly in the midst of one."""
        if self._clock() - self._last < LOG_EVERY_S:
            return
        self._last = self._clock()
        end = "\n"
        if self._reporter is not None:
            # What stands on the line that pytest takes for begun; it ends that itself.
            self._reporter.currentfspath, end = text, ""
        with suppress(OSError):
            os.write(self._descriptor, f"\n{text}{end}".encode(errors="replace"))

    def hide(self) -> None:
        """What is written stays."""


class ProgressLine:
    """A plugin of the process that reports."""

    def __init__(self, config: pytest.Config, count: Count, place: Terminal | Log) -> None:
        self._state = config.stash[STATE]
        self._count = count
        self._place = place
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="kb-progress", daemon=True)

    def _tick(self) -> None:
        while not self._over.wait(TICK_S):
            with self._lock:
                if not self._over.is_set():
                    self._show()

    def _show(self) -> None:
        engine = self._state.engine
        builds = engine.builds if isinstance(engine, Building) else None
        self._place.show(self._count.text(builds))

    @contextmanager
    def _away(self) -> Iterator[None]:
        """While pytest prints."""
        with self._lock:
            self._place.hide()
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Generator[None, None, None]:
        """From the first item on."""
        with self._away():
            self._count.start(nodeid)
            if not self._thread.is_alive() and not self._over.is_set():
                self._thread.start()
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Count; pytest prints a word or a dot."""
        with self._away():
            if hasattr(report, ATTRIBUTE) and report.outcome in ("passed", "failed", "skipped"):
                self._count.judged(failed=report.failed, taken=getattr(report, TAKEN, False))
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> Generator[None, None, None]:
        """And how far it is."""
        with self._away():
            self._count.finish(nodeid)
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Leave the terminal as it was."""
        self.stop()

    def pytest_enter_pdb(self) -> None:
        """Somebody types from here on."""
        self.stop()

    def pytest_unconfigure(self) -> None:
        """However the session ended."""
        self.stop()

    def stop(self) -> None:
        """For good."""
        with self._lock:
            if not self._over.is_set():
                self._over.set()
                self._place.hide()


def make(config: pytest.Config, collected: Collection[str]) -> ProgressLine | None:
    """What suits the place that pytest prints to; None where nobody wants to see it."""
    option = config.option
    if option.verbose < 0 or option.collectonly or getattr(option, "setupplan", False):
        return None
    try:
        # Of its own: while an item runs, pytest has the usual one redirected.
        descriptor = os.dup(sys.stdout.fileno())
    except (OSError, ValueError):
        return None  # not a file at all
    lively = os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"
    place = Terminal(descriptor) if lively else Log(descriptor, reporter=_by_line(config))
    return ProgressLine(config, Count(collected), place)


def _by_line(config: pytest.Config) -> pytest.TerminalReporter | None:
    """Pytest's reporter where it has a line for each item."""
    if config.option.verbose < 1:
        return None
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    return reporter
