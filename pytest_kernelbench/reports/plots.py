"""The pictures of reports, from plain numbers to SVG strings; matplotlib draws them.

Each is one panel, made for a width of about 460 pixels: a page sets as many beside each other as
fit, and on a telephone one below the other with letters that can still be read. A series keeps its
``slot`` over all of a page's pictures: colour, dash and marker. Put ``svg.style()`` into the page,
and ``legend`` where its pictures share one.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports.svg import ink, marker, render, series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.lines import Line2D

    from pytest_kernelbench.reports.canvas import Canvas

DASHES = ((), (6, 2.5), (1.6, 1.8), (7, 2, 1.6, 2), (3.5, 2), (9, 3), (1, 3), (5, 2, 1, 2, 1, 2))
WIDTH, HEIGHT = 460, 300
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class Curve:
    """A share (0 to 1) over speedups or calls."""

    label: str
    slot: int
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    """With ``high``: the band around ``y``; empty for none."""
    high: Sequence[float] = ()
    thin: Sequence[float] = ()
    """A second, paler line: the share by point estimates."""


@dataclass(frozen=True)
class Dot:
    """A pair in a picture."""

    x: float
    y: float
    slot: int
    title: str
    """What is shown when it is pointed at."""
    link: str = ""
    """Fragment that opens the pair's row: ``#r12``."""


@dataclass(frozen=True)
class Spread:
    """The speedups of one entrant on one level."""

    label: str
    slot: int
    speedups: Sequence[float]
    geomean: float


@dataclass(frozen=True)
class RoofLines:
    """A device's measured roof for one dtype."""

    bytes_per_s: float
    flops_per_s: float


def available() -> None:
    """Raise ``UsageError`` where what draws the pictures is not installed."""
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        message = (
            f"the HTML report needs {' and '.join(missing)}, not installed here: "
            "pip install 'pytest-kernelbench[html]'"
        )
        raise UsageError(message)


def legend(labels: Iterable[str]) -> str:
    """An HTML list of series in the order of their slots, each with its line and marker."""
    items = "".join(
        f"<li>{key(slot)} {html.escape(label)}</li>" for slot, label in enumerate(labels)
    )
    return f'<ul class="legend">{items}</ul>'


def key(slot: int) -> str:
    """A series' line, small enough to stand before its name."""
    pattern = " ".join(f"{length:g}" for length in DASHES[min(slot, len(DASHES) - 1)])
    dash = f' stroke-dasharray="{pattern}"' if pattern else ""
    name = series(slot)
    return (
        '<svg class="plot key" viewBox="0 0 28 10" aria-hidden="true">'
        f'<path class="k-{name}" stroke="{ink(name)}" d="M0 5H28" fill="none" stroke-width="2.2"'
        f"{dash}/></svg>"
    )


# Shares


def fast_p(curves: Sequence[Curve], name: str, title: str, top: float = 1.0) -> str:
    """fast_p over p on a scale of doublings; ``x`` holds p, and 0 has a place of its own.

    ``top`` is the largest share on the upright axis: the same in all pictures that are compared.
    """
    canvas = _canvas(WIDTH, HEIGHT)
    positive = [p for curve in curves for p in curve.x if p > 0]
    least, most = min(positive, default=0.25), max(positive, default=8.0)
    zero = math.log2(least) - 0.7
    places = {p: math.log2(p) if p > 0 else zero for curve in curves for p in curve.x}
    axes = canvas.axes
    _shares(canvas, [(curve, [places[p] for p in curve.x]) for curve in curves], top, "steps-post")
    ticks = _doublings(least, most)
    canvas.ticks_x([(zero, "0"), *((math.log2(p), _fraction(p)) for p in ticks)])
    axes.set_xlim(zero - 0.1, math.log2(most))
    axes.axvline(0, color=ink("soft"), linewidth=0.9, zorder=1)
    canvas.labels("p: times as fast as the baseline", "fast_p: share of problems")
    return render(canvas.figure, name, title, _told(curves, "p"))


def shares_by_call(curves: Sequence[Curve], name: str, title: str, x_label: str) -> str:
    """Shares over a number of calls, samples or turns: 1, 2, 3, ..."""
    canvas = _canvas(WIDTH, HEIGHT)
    lines = _shares(canvas, [(curve, curve.x) for curve in curves], 1.0, "default")
    for curve, line in zip(curves, lines, strict=True):
        line.set_marker(marker(curve.slot))
        line.set_markersize(4.5)
    most = max((int(x) for curve in curves for x in curve.x), default=1)
    step = max(1, math.ceil(most / 8))
    canvas.ticks_x([(k, str(k)) for k in range(1, most + 1, step)])
    canvas.axes.set_xlim(1 - 0.04 * most, most + 0.04 * most)
    canvas.labels(x_label, "share of problems")
    return render(canvas.figure, name, title, _told(curves, "k"))


MOST_BANDS = 3
"""Bands of more curves than these would hide each other."""


def _shares(
    canvas: Canvas,
    curves: Sequence[tuple[Curve, Sequence[float]]],
    top: float,
    drawstyle: Literal["default", "steps-post"],
) -> list[Line2D]:
    """Draw them, and give their lines."""
    axes, lines = canvas.axes, []
    step: Literal["post"] | None = "post" if drawstyle == "steps-post" else None
    for curve, places in curves:
        colour = ink(series(curve.slot))
        if curve.low and len(curves) <= MOST_BANDS:
            axes.fill_between(
                places, curve.low, curve.high, color=colour, alpha=0.13, linewidth=0, step=step
            )
        if curve.thin:
            (thin,) = axes.plot(places, curve.thin, color=colour, linewidth=0.9, alpha=0.65)
            thin.set_drawstyle(drawstyle)
        (line,) = axes.plot(places, curve.y, color=colour, linewidth=2.0)
        line.set_drawstyle(drawstyle)
        lines.append(line)
        if dashes := DASHES[min(curve.slot, len(DASHES) - 1)]:
            line.set_linestyle((0, tuple(length / 2.0 for length in dashes)))
    axes.set_ylim(0, top)
    between = 0.2 if top in (0.6, 0.8) else top / 4
    canvas.ticks_y([(between * n, f"{between * n:g}") for n in range(round(top / between) + 1)])
    return lines


def _told(curves: Sequence[Curve], word: str) -> str:
    """The curves in words, for those who cannot see them."""
    parts = [
        f"{curve.label}: {curve.y[0]:.2f} at {word} = {curve.x[0]:g}, "
        f"{curve.y[-1]:.2f} at {word} = {curve.x[-1]:g}"
        for curve in curves
        if curve.x
    ]
    return "; ".join(parts)


# Speedups

_BINS_A_DOUBLING = 4
_ROW_HEIGHT = 54


def speedups(
    rows: Sequence[Spread], name: str, title: str, reach: tuple[float, float] = (0.5, 2.0)
) -> str:
    """A histogram of speedups a row, on a scale of doublings; the mark is the geometric mean.

    The scale has at least ``reach`` on it: the same for all pictures that are compared.
    """
    canvas = _canvas(WIDTH, 50 + _ROW_HEIGHT * max(1, len(rows)), top=6)
    logs = [[math.log2(value) for value in row.speedups] for row in rows]
    every = [value for found in logs for value in found] + [math.log2(end) for end in reach]
    least, most = math.floor(min(every)), math.ceil(max(every))
    edges = [least + i / _BINS_A_DOUBLING for i in range(_BINS_A_DOUBLING * (most - least) + 1)]
    axes = canvas.axes
    for place, (row, values) in enumerate(zip(reversed(rows), reversed(logs), strict=True)):
        colour = ink(series(row.slot))
        counts = _counts(values, least, len(edges) - 1)
        heights = [place + 0.66 * count / max(1, *counts) for count in counts]
        axes.stairs(heights, edges, baseline=place, fill=True, color=colour, alpha=0.35)
        axes.stairs(heights, edges, baseline=place, color=colour, linewidth=1.1)
        mean = math.log2(row.geomean)
        axes.plot([mean, mean], [place, place + 0.7], color=colour, linewidth=2.4)
        text = f"{row.label}   {row.geomean:.3g}{TIMES}, n = {len(values)}"
        axes.annotate(
            text, (0, place + 0.69), (0, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="left", va="bottom", color=ink("ink"), fontsize=11.5,
        )  # fmt: skip
    axes.axvline(0, color=ink("soft"), linewidth=0.9, zorder=1)
    canvas.ticks_x(
        [(math.log2(p), f"{_fraction(p)}{TIMES}") for p in _doublings(2.0**least, 2.0**most)]
    )
    axes.set_xlim(least, most)
    axes.set_ylim(0, max(1, len(rows)))
    axes.set_yticks([])
    canvas.labels("speedup over the baseline, right solutions only", "")
    told = "; ".join(f"{r.label}: {len(r.speedups)}, mean {r.geomean:.3g}" for r in rows)
    return render(canvas.figure, name, title, told)


def _counts(logs: Sequence[float], least: float, bins: int) -> list[int]:
    counts = [0] * bins
    for value in logs:
        counts[min(bins - 1, int((value - least) * _BINS_A_DOUBLING))] += 1
    return counts


def against(dots: Sequence[Dot], name: str, title: str, labels: tuple[str, str]) -> str:
    """Speedups of the same pairs in two runs; above the diagonal the second is faster."""
    canvas = _canvas(WIDTH, 400)
    values = [value for dot in dots for value in (dot.x, dot.y)] or [1.0]
    least, most = min(*values, 0.5) / 1.15, max(*values, 2.0) * 1.15
    axes = canvas.axes
    canvas.logarithmic(both=True)
    for factor, width in ((1.0, 1.1), (1.05, 0.6), (1 / 1.05, 0.6)):
        axes.plot([least, most], [least * factor, most * factor], color=ink("soft"), lw=width)
    canvas.scatter(dots)
    ticks = [(p, f"{_fraction(p)}{TIMES}") for p in _doublings(least, most)]
    canvas.ticks_x(ticks)
    canvas.ticks_y(ticks)
    axes.set_xlim(least, most)
    axes.set_ylim(least, most)
    canvas.labels(f"speedup in {labels[0]}", f"speedup in {labels[1]}")
    gained = sum(dot.y > dot.x for dot in dots)
    return _linked(canvas, name, title, f"{gained} of {len(dots)} faster in {labels[1]}")


# The roof


def roofline(
    dots: Sequence[Dot], idle: Sequence[Dot], roof: RoofLines, name: str, title: str
) -> str:
    """Achieved rate over arithmetic intensity, below the device's measured roof.

    ``dots`` are (FLOP/byte, FLOP/s). ``idle`` does no arithmetic that is counted: its ``y`` is
    bytes/s, drawn in a strip of its own on the left, against the bandwidth.
    """
    canvas = _canvas(WIDTH, 340, strip=bool(idle))
    ridge = roof.flops_per_s / roof.bytes_per_s
    least = min([dot.x for dot in dots] + [ridge / 64]) / 1.6
    most = max([dot.x for dot in dots] + [ridge * 16]) * 1.6
    floor = min([dot.y for dot in dots] + [roof.flops_per_s / 32]) / 1.6
    axes = canvas.axes
    canvas.logarithmic(both=True)
    axes.plot([least, ridge, most], [least * roof.bytes_per_s, *[roof.flops_per_s] * 2],
              color=ink("roof"), linewidth=1.6, solid_joinstyle="miter")  # fmt: skip
    axes.annotate(
        f"{_engineering(roof.flops_per_s)}FLOP/s", (most, roof.flops_per_s), (-3, 4),
        textcoords="offset points", ha="right", va="bottom", color=ink("roof"), fontsize=11,
    )  # fmt: skip
    canvas.scatter(dots)
    axes.set_xlim(least, most)
    axes.set_ylim(floor, roof.flops_per_s * 2.2)
    canvas.engineering_ticks()
    canvas.labels("arithmetic intensity, FLOP/byte", "FLOP/s", "bytes/s")
    if idle:
        canvas.bandwidth_strip(idle, roof.bytes_per_s, f"{_engineering(roof.bytes_per_s)}B/s")
    roofs = f"{_engineering(roof.bytes_per_s)}B/s and {_engineering(roof.flops_per_s)}FLOP/s"
    return _linked(canvas, name, title, f"{len(dots) + len(idle)} solutions below {roofs}")


def _linked(canvas: Canvas, name: str, title: str, told: str) -> str:
    links = [(dot.link, dot.title) for dot in canvas.dots]
    return render(canvas.figure, name, title, told, links)


_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def _engineering(value: float) -> str:
    for size, prefix in _PREFIXES:
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g} "


def _doublings(least: float, most: float, at_most: int = 9) -> list[float]:
    """Powers of two within a range, few enough to be read; 1 is always among them."""
    first, last = math.ceil(math.log2(least) - 1e-9), math.floor(math.log2(most) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / at_most))
    return [2.0**n for n in range(first, last + 1) if n % step == 0]


def _fraction(power: float) -> str:
    """``1/8`` is shorter than 0.125."""
    return f"{power:g}" if power >= 1 else f"1/{1 / power:g}"


def _canvas(width: int, height: int, *, strip: bool = False, top: int = 28) -> Canvas:
    from pytest_kernelbench.reports.canvas import Canvas

    return Canvas(width, height, strip=strip, top=top)
