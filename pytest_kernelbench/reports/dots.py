"""From verdicts to dots: solutions below a device's roof, and pairs in two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.reports.plots import Dot, RoofLines
from pytest_kernelbench.score import sample_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_kernelbench.verdict import Measurement, Verdict

MOST_DOTS = 1500
"""More would hide each other, and make the page heavy."""


@dataclass(frozen=True)
class Marked:
    """A verdict with what its dot in a picture says and opens."""

    verdict: Verdict
    slot: int
    link: str


@dataclass(frozen=True)
class Roofline:
    """What a roofline plot is made of: one device, one dtype."""

    device: str
    dtype: str
    lines: RoofLines
    dots: tuple[Dot, ...]
    idle: tuple[Dot, ...]
    """What does no arithmetic that is counted: by bytes/s."""
    left_out: int
    """Slower samples of the same entrant and problem, where there are too many dots."""


def rooflines(marked: Iterable[Marked]) -> list[Roofline]:
    """A roofline for each device and dtype that has a measured roof."""
    places: dict[tuple[str, str], list[Marked]] = {}
    for each in marked:
        if each.verdict.roofline is not None and _time_us(each.verdict) is not None:
            places.setdefault((each.verdict.device, each.verdict.dtype), []).append(each)
    return [_roofline(place, found) for place, found in sorted(places.items())]


def _roofline(place: tuple[str, str], found: Sequence[Marked]) -> Roofline:
    kept = found if len(found) <= MOST_DOTS else _fastest(found)
    kept = kept[:MOST_DOTS]
    dots, idle = [], []
    for each in kept:
        roof, time_us = each.verdict.roofline, _time_us(each.verdict)
        if roof is None or time_us is None:
            continue
        text = f"{name_of(each.verdict)}: {time_us:.4g} us"
        if roof.flops > 0:
            rate = roof.flops / time_us * 1e6
            intensity = roof.flops / max(1, roof.moved_bytes)
            dots.append(Dot(intensity, rate, each.slot, text, each.link))
        elif roof.moved_bytes > 0:
            # Side by side, at a place that is the problem's own, so that entrants can be compared.
            across = 0.12 + 0.76 * (each.verdict.number * 0.618034 % 1)
            rate = roof.moved_bytes / time_us * 1e6
            idle.append(Dot(across, rate, each.slot, text, each.link))
    last = found[-1].verdict.roofline
    lines = RoofLines(last.bytes_per_s, last.flops_per_s) if last else RoofLines(1.0, 1.0)
    return Roofline(*place, lines, tuple(dots), tuple(idle), len(found) - len(kept))


def _fastest(found: Iterable[Marked]) -> list[Marked]:
    """Of each entrant and problem the fastest sample."""
    best: dict[tuple[str, int, int], Marked] = {}
    for each in sorted(found, key=lambda m: _time_us(m.verdict) or math.inf):
        verdict = each.verdict
        best.setdefault((verdict.entrant, verdict.level, verdict.number), each)
    return list(best.values())


def _time_us(verdict: Verdict) -> float | None:
    """Of what is right; None where there is no time that one could divide by."""
    measured = verdict.measurement
    if measured is None or not verdict.status.right:
        return None
    return measured.time_us if math.isfinite(measured.time_us) and measured.time_us > 0 else None


def name_of(verdict: Verdict) -> str:
    """``ann 1/19 relu``, with the sample where it is not the first."""
    sample = f" sample {verdict.sample}" if verdict.sample else ""
    return f"{verdict.entrant} {verdict.level}/{verdict.number} {verdict.problem}{sample}"


def against(earlier: Mapping[str, Verdict], later: Mapping[str, Marked]) -> tuple[list[Dot], int]:
    """The speedups of the same pairs in two runs, by node id; how many dots were left out."""
    dots = []
    for nodeid, marked in later.items():
        then, now = _sound(earlier.get(nodeid)), _sound(marked.verdict)
        if then is not None and now is not None:
            text = f"{name_of(marked.verdict)}: {then.speedup:.3g}x, then {now.speedup:.3g}x"
            dots.append(Dot(then.speedup, now.speedup, marked.slot, text, marked.link))
    # What changed most is what one looks for.
    dots.sort(key=lambda dot: abs(math.log(dot.y / dot.x)))
    return dots[-MOST_DOTS:], max(0, len(dots) - MOST_DOTS)


def _sound(verdict: Verdict | None) -> Measurement | None:
    if verdict is None or sample_of(verdict).speedup is None:
        return None
    return verdict.measurement
