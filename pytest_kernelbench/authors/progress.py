"""A line that says how far it is: redrawn on a terminal, printed now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 24
_EVERY_S = 10.0
"""Between two lines where there is no terminal to redraw one on."""


class Unseen:
    """A progress that nobody looks at."""

    def step(self, remark: str = "") -> None:
        """One more is done."""

    def end(self) -> None:
        """There is no more to come."""


class Progress(Unseen):
    """Counts to ``total``; ``step`` after each, ``end`` at the end."""

    def __init__(self, what: str, total: int, stream: TextIO | None = None) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._stream = stream or sys.stderr
        self._start = time.monotonic()
        self._last_s = 0.0
        self._drawn = 0

    def step(self, remark: str = "") -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if self._stream.isatty():
            self._draw(remark)
        elif now - self._last_s >= _EVERY_S or self.done == self.total:
            self._last_s = now
            self._stream.write(f"{self._text(remark)}\n")
            self._stream.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
            self._drawn = 0

    def _draw(self, remark: str) -> None:
        filled = _WIDTH * self.done // max(1, self.total)
        text = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self._text(remark)}"
        self._stream.write("\r" + text.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(text)

    def _text(self, remark: str) -> str:
        passed_s = time.monotonic() - self._start
        left_s = passed_s / max(1, self.done) * (self.total - self.done)
        left = f", {left_s / 60:.0f} min left" if left_s > 60 else ""  # noqa: PLR2004 - a minute
        return f"{self.what} {self.done}/{self.total}{', ' if remark else ''}{remark}{left}"
