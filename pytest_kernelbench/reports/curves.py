"""From verdicts to curves and histograms, as ``plots`` draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_kernelbench.reports.plots import Curve, Spread
from pytest_kernelbench.score import geometric_mean, sample_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_kernelbench.score import Sample
    from pytest_kernelbench.verdict import Verdict

    Numbers = NDArray[np.float64]

_STEPS_A_DOUBLING = 16
_LEAST_P, _LEAST_TOP, _MOST_TOP = 0.25, 4.0, 1024.0
_RESAMPLES = 1000


def scale_of_p(best: float | None) -> tuple[float, ...]:
    """0, then from a quarter to the doubling above the best speedup, in even factors."""
    shown = min(max(best or 1.0, _LEAST_TOP), _MOST_TOP)
    top = 2.0 ** math.ceil(math.log2(shown))
    steps = round(math.log2(top / _LEAST_P) * _STEPS_A_DOUBLING)
    return (0.0, *(_LEAST_P * 2.0 ** (step / _STEPS_A_DOUBLING) for step in range(steps + 1)))


def fast_p_curve(
    label: str, slot: int, groups: Sequence[Sequence[Sample]], scale: Sequence[float]
) -> Curve:
    """``score``'s shares at every p of a scale, with the spread over problems around them."""
    p = np.asarray(scale)
    shares = _per_problem(groups, p, "low")
    low, high = _spread(shares)
    thin = _per_problem(groups, p, "speedup").mean(axis=0)
    plain = (tuple(map(float, line)) for line in (shares.mean(axis=0), low, high, thin))
    return Curve(label, slot, tuple(scale), *plain)


def _per_problem(groups: Sequence[Sequence[Sample]], p: Numbers, bound: str) -> Numbers:
    """A row a problem: the share of its samples that is right and faster than each p."""
    table = np.zeros((max(1, len(groups)), len(p)))
    for row, group in enumerate(groups):
        agreed = [sample for sample in group if sample.agreed]
        if not agreed:
            continue
        found = np.array([_number(getattr(sample, bound)) for sample in agreed])
        # To be right is enough for p = 0; nothing that has no time is faster than more.
        faster = np.where(p == 0, True, found[:, None] > p)
        table[row] = faster.sum(axis=0) / len(group)
    return table


def _number(bound: float | None) -> float:
    return -math.inf if bound is None else bound


def _spread(
    shares: Numbers,
) -> tuple[Iterable[float], Iterable[float]]:
    """95 % percentile interval of the means, by resampling whole problems; the same every time."""
    count = len(shares)
    draws = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), _RESAMPLES)
    low, high = np.quantile(draws @ shares / count, (0.025, 0.975), axis=0)
    return low, high


def speedups_of(verdicts: Iterable[Verdict], *, strict: bool = False) -> list[float]:
    """Of what is right and timed."""
    found = (sample_of(verdict, strict=strict).speedup for verdict in verdicts)
    return [speedup for speedup in found if speedup is not None]


def spread(
    label: str, slot: int, verdicts: Iterable[Verdict], *, strict: bool = False
) -> Spread | None:
    """The speedups of what is right and timed; None where nothing is."""
    speedups = speedups_of(verdicts, strict=strict)
    mean = geometric_mean(speedups)
    return None if mean is None else Spread(label, slot, speedups, mean)
