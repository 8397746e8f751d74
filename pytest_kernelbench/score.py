"""Scores of one entrant over a set of problems: pure arithmetic on verdicts.

The denominator is the number of problems *asked* (``n``): one without an answer is not solved. Two
kinds of verdict say nothing of a solution and are left out, a problem with only such ones as well:
``not_judged`` (the machine failed) and ``bad_problem``. With several samples a problem counts by
their mean, which estimates without bias what one sample drawn at random would score.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from pytest_kernelbench.verdict import UNSCORED, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_kernelbench.verdict import Verdict

_BEYOND = 1e9
"""No speedup; pictures have no scale for it."""
_MANY = 5000
"""Problems; resampling more takes seconds and says nothing else than the normal distribution."""

Key = tuple[int, int]
"""A problem: level and number."""


@dataclass(frozen=True)
class Sample:
    """A verdict as far as scores go."""

    status: Status
    agreed: bool
    """Right in every round; a failure that came later, while timing, does not take it away."""
    speedup: float | None = None
    """Only of what is right and has a time."""
    low: float | None = None
    """Lower bound of the same."""

    def faster(self, p: float) -> bool:
        """Shown to be more than ``p`` times as fast; for p = 0 it is enough to be right."""
        return self.agreed and (p == 0 or (self.low is not None and self.low > p))

    def faster_by_point(self, p: float) -> bool:
        """The same by the plain estimate, as the paper counts."""
        return self.agreed and (p == 0 or (self.speedup is not None and self.speedup > p))


def sample_of(verdict: Verdict, *, strict: bool = False) -> Sample:
    """``strict`` takes what only ran library kernels for unsolved."""
    agreed = verdict.agreed or verdict.status.right
    if strict and verdict.status is Status.NOT_A_KERNEL:
        return Sample(verdict.status, agreed=False)
    measured = verdict.measurement
    if measured is None or not verdict.status.right or not _sound(measured.speedup, measured.low):
        return Sample(verdict.status, agreed)
    return Sample(verdict.status, agreed, measured.speedup, measured.low)


def _sound(*numbers: float) -> bool:
    """Whether they can be ratios of two times: a file of records may hold any number."""
    return all(1 / _BEYOND < number < _BEYOND for number in numbers)


@dataclass(frozen=True)
class Share:
    """A fast_p with its lower-bound form, its point form, and the spread over problems."""

    p: float
    value: float
    """By the lower bound of each speedup: the score that counts."""
    by_point: float
    """By the plain estimate: the fast_p of the KernelBench paper."""
    interval: tuple[float, float]
    """95 % for ``value``, by resampling problems."""


@dataclass(frozen=True)
class AtK:
    """pass@k or fast_p@k, over the problems that have enough samples."""

    k: int
    value: float | None
    """None if no problem has enough."""
    n: int
    short: int
    """Problems left out because they have some samples, yet fewer than k."""


@dataclass(frozen=True)
class Beside:
    """What is known against another baseline than the one that decides."""

    baseline: str
    geomean: float
    n: int
    """Solutions that are right and have a time against it."""
    faster: int
    """Of these, how many are shown to be faster than it."""


@dataclass(frozen=True)
class Score:
    """Everything a table says of one entrant on one set of problems."""

    n: int
    """Problems asked, less those that could not be judged: the denominator of every share."""
    missing: int
    """Of these, without any solution."""
    tried: int
    """Solutions with a verdict on them, builds included: the denominator of the next two."""
    built: int
    right: int
    counts: Mapping[Status, int]
    shares: tuple[Share, ...]
    geomean: float | None
    """Geometric mean of the speedups of what is right and timed."""
    timed: int
    """How many those are."""
    best: float | None
    pass_at: tuple[AtK, ...] = ()
    fast_at: tuple[tuple[float, AtK], ...] = ()
    """``(p, fast_p@k)``."""
    beside: tuple[Beside, ...] = ()
    """Against each further baseline, in the order of its first mention."""

    @property
    def right_untimed(self) -> int:
        """Agreed in every round and has no time: the timing failed, or none was asked for."""
        return self.right - self.timed

    def share(self, p: float) -> Share:
        """The share for one of the thresholds it was made with."""
        return next(share for share in self.shares if share.p == p)


def score(
    verdicts: Iterable[Verdict],
    problems: Iterable[Key],
    thresholds: Sequence[float] = (0, 1, 2),
    at_k: Sequence[int] = (),
    *,
    strict: bool = False,
) -> Score:
    """Score the verdicts of one entrant on ``problems``; verdicts on other problems are ignored."""
    asked = dict.fromkeys(problems)
    every = [v for v in verdicts if (v.level, v.number) in asked]
    groups = grouped(every, asked, strict=strict)
    answered = {(v.level, v.number) for v in every}
    flat = [sample for group in groups for sample in group]
    tried = [sample for sample in flat if sample.status is not Status.SKIPPED]
    speedups = [sample.speedup for sample in flat if sample.speedup is not None]
    return Score(
        n=len(groups),
        missing=sum(key not in answered for key in asked),
        tried=len(tried),
        built=sum(sample.status is not Status.NOT_BUILT for sample in tried),
        right=sum(sample.agreed for sample in flat),
        counts=Counter(verdict.status for verdict in every),
        shares=tuple(_share(groups, p) for p in thresholds),
        geomean=geometric_mean(speedups),
        timed=len(speedups),
        best=max(speedups, default=None),
        pass_at=tuple(at(groups, k, lambda s: s.agreed) for k in at_k),
        fast_at=tuple((p, at(groups, k, _faster_than(p))) for p in thresholds if p for k in at_k),
        beside=tuple(beside(every, strict=strict)),
    )


def beside(verdicts: Iterable[Verdict], *, strict: bool = False) -> Iterator[Beside]:
    """Speedups of what is right against every baseline but the first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for verdict in verdicts:
        solved = verdict.status.right and sample_of(verdict, strict=strict).agreed
        for measured in verdict.measurements[1:] if solved else ():
            if _sound(measured.speedup, measured.low):
                pairs = found.setdefault(measured.baseline, [])
                pairs.append((measured.speedup, measured.low))
    for baseline, pairs in found.items():
        geomean = geometric_mean([speedup for speedup, _ in pairs])
        assert geomean is not None  # noqa: S101 - no list here is empty
        yield Beside(baseline, geomean, len(pairs), sum(low > 1 for _, low in pairs))


def grouped(
    verdicts: Iterable[Verdict], problems: Iterable[Key], *, strict: bool = False
) -> list[list[Sample]]:
    """The samples of each problem that counts: all of those asked, less what nobody could judge."""
    samples: dict[Key, list[Sample]] = {key: [] for key in problems}
    answered = set()
    for verdict in verdicts:
        key = (verdict.level, verdict.number)
        if key in samples:
            answered.add(key)
            if verdict.status not in UNSCORED:
                samples[key].append(sample_of(verdict, strict=strict))
    return [found for key, found in samples.items() if found or key not in answered]


def _faster_than(p: float) -> Callable[[Sample], bool]:
    return lambda sample: sample.faster(p)


def _share(groups: Sequence[Sequence[Sample]], p: float) -> Share:
    per_problem = [_mean(sample.faster(p) for sample in group) for group in groups]
    by_point = [_mean(sample.faster_by_point(p) for sample in group) for group in groups]
    return Share(p, _mean(per_problem), _mean(by_point), bootstrap_interval(per_problem))


def _mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing: a problem without samples is not solved, no problems are no score."""
    found = list(values)
    return fmean(found) if found else 0.0


def geometric_mean(values: Sequence[float]) -> float | None:
    """In log space, so that thousands of values neither overflow nor vanish; None of nothing."""
    return math.exp(fmean(map(math.log, values))) if values else None


def at(groups: Sequence[Sequence[Sample]], k: int, success: Callable[[Sample], bool]) -> AtK:
    """Mean over problems of the chance that at least one of ``k`` of its samples succeeds.

    A problem without samples counts 0. One with fewer than k cannot be estimated and is left out.
    """
    enough = [group for group in groups if not group or len(group) >= k]
    chances = [
        at_least_one(len(group), sum(map(success, group)), k) if group else 0.0 for group in enough
    ]
    value = fmean(chances) if chances else None
    return AtK(k, value, len(enough), len(groups) - len(enough))


def at_least_one(samples: int, successes: int, k: int) -> float:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) of Chen et al. 2021 (arXiv 2107.03374)."""
    if not 1 <= k <= samples or not 0 <= successes <= samples:
        message = f"no estimate at k={k} from {successes} of {samples}"
        raise ValueError(message)
    return 1 - math.comb(samples - successes, k) / math.comb(samples, k)


def bootstrap_interval(
    values: Sequence[float], resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile interval of the mean, resampling whole problems.

    The same on every run, and in whatever order the problems come.
    """
    if len(set(values)) <= 1:
        return (values[0], values[0]) if values else (0.0, 0.0)
    if len(values) > _MANY:
        return _normal_interval(values)
    return _resampled(tuple(sorted(values)), resamples, seed)


def _normal_interval(values: Sequence[float]) -> tuple[float, float]:
    """What resampling comes to with many problems, in no time."""
    middle, spread = fmean(values), 1.96 * pstdev(values) / math.sqrt(len(values))
    return max(min(values), middle - spread), min(max(values), middle + spread)


@lru_cache(maxsize=256)
def _resampled(values: tuple[float, ...], resamples: int, seed: int) -> tuple[float, float]:
    """Kept, since table, leaderboard, gates and pages ask for the same, and it takes a while."""
    draw = random.Random(seed)  # noqa: S311 - statistics, not secrets
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(resamples))
    return means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1]
