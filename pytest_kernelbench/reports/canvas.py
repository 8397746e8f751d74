"""A matplotlib figure with one panel, dressed for a report; only ``plots`` draws on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from pytest_kernelbench.reports.svg import ink, marker, series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from pytest_kernelbench.reports.plots import Dot

_DPI = 72
"""A point is a pixel then, as the page's style counts."""
_LETTER = 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 12, 28, 44
_STRIP, _GAP = 62, 58


class Canvas:
    """One panel of a given size in pixels, with a strip on its left if asked for."""

    def __init__(self, width: int, height: int, *, strip: bool = False, top: int = _TOP) -> None:
        self.figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
        self._size = (width, height, top)
        self.axes = self._panel(_LEFT + (_STRIP + _GAP if strip else 0), width - _RIGHT)
        self.strip = self._panel(_LEFT, _LEFT + _STRIP) if strip else None
        self.dots: list[Dot] = []

    def _panel(self, left: float, right: float) -> Axes:
        width, height, top = self._size
        box = (left / width, _BOTTOM / height, (right - left) / width,
               (height - _BOTTOM - top) / height)  # fmt: skip
        axes = self.figure.add_axes(box)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(ink("soft"))
            axes.spines[side].set_linewidth(0.8)
        axes.tick_params(labelsize=_LETTER, labelcolor=ink("soft"), color=ink("soft"), width=0.8)
        axes.tick_params(which="minor", length=0)
        axes.grid(visible=True, color=ink("grid"), linewidth=0.8)
        axes.set_axisbelow(True)
        return axes

    def labels(self, x: str, y: str, strip: str = "") -> None:
        """What the axes show; that of the upright one is written on top, to be read level."""
        self.axes.set_xlabel(x, color=ink("ink"), fontsize=_LETTER)
        for axes, words in ((self.axes, y), (self.strip, strip)):
            if axes is not None:
                axes.annotate(
                    words, (0, 1), (-_LEFT + 4, 9), xycoords="axes fraction",
                    textcoords="offset points", ha="left", va="bottom", color=ink("ink"),
                    fontsize=_LETTER,
                )  # fmt: skip

    def ticks_x(self, ticks: Iterable[tuple[float, str]]) -> None:
        """Ticks at places, with words."""
        places, words = zip(*ticks, strict=True)
        self.axes.set_xticks(places, words)
        self.axes.set_xticks([], minor=True)

    def ticks_y(self, ticks: Iterable[tuple[float, str]]) -> None:
        """The same for the upright axis."""
        places, words = zip(*ticks, strict=True)
        self.axes.set_yticks(places, words)
        self.axes.set_yticks([], minor=True)

    def logarithmic(self, *, both: bool) -> None:
        """Scales of factors."""
        self.axes.set_xscale("log")
        if both:
            self.axes.set_yscale("log")

    def engineering_ticks(self) -> None:
        """Powers of ten along both axes, as 10 G and 1 T upright."""
        self.axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        self.axes.xaxis.set_major_locator(LogLocator(numticks=7))
        self.axes.xaxis.set_major_formatter("{x:g}")
        for axis in (self.axes.xaxis, self.axes.yaxis):
            axis.set_minor_formatter(NullFormatter())

    def scatter(self, dots: Sequence[Dot], axes: Axes | None = None) -> None:
        """Dots, a collection for each series; each is marked so that it can be named later."""
        target = axes or self.axes
        for slot in sorted({dot.slot for dot in dots}):
            of_slot = [dot for dot in dots if dot.slot == slot]
            first = len(self.dots)
            self.dots.extend(of_slot)
            drawn = target.scatter(
                [dot.x for dot in of_slot],
                [dot.y for dot in of_slot],
                s=26,
                marker=marker(slot),
                color=ink(series(slot)),
                alpha=0.75,
                linewidths=0,
                zorder=3,
            )
            drawn.set_urls([f"#dot-{first + place}" for place in range(len(of_slot))])

    def bandwidth_strip(self, dots: Sequence[Dot], bytes_per_s: float, words: str) -> None:
        """The strip of what only moves bytes, with the measured bandwidth as its roof."""
        axes = self.strip
        if axes is None:
            message = "this canvas was made without a strip"
            raise ValueError(message)
        axes.set_yscale("log")
        axes.plot([0, 1], [bytes_per_s] * 2, color=ink("roof"), linewidth=1.6)
        axes.annotate(
            words, (0.5, bytes_per_s), (0, 4), textcoords="offset points",
            ha="center", va="bottom", color=ink("roof"), fontsize=11,
        )  # fmt: skip
        self.scatter(dots, axes)
        axes.set_xlim(0, 1)
        axes.set_ylim(min([dot.y for dot in dots] + [bytes_per_s / 16]) / 1.6, bytes_per_s * 2.2)
        axes.set_xticks([0.5], ["none"])
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        axes.yaxis.set_minor_formatter(NullFormatter())
