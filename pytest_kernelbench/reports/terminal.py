"""The summary as text: at most 80 columns, the same on a terminal and in a log."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_kernelbench.gates import Row
    from pytest_kernelbench.score import AtK, Score, Share

NAME_WIDTH = 16
_TOLD_IN_TABLE = frozenset({Status.FAST, Status.RIGHT})


def table(rows: Sequence[Row], thresholds: Sequence[float]) -> Iterator[str]:
    """A block for each level; in it, for each entrant, a line of figures and what they leave out.

    ``thresholds`` are those that get a column, fast_0 aside (that is the share that is right).
    """
    for level, group in groupby(rows, key=lambda row: row.level):
        fast = "".join(f"{f'fast_{p:g}':>9}" for p in thresholds)
        name = f"{f'level {level}':{NAME_WIDTH}}"
        yield f"{name}{'n':>4}{'built':>7}{'right':>7}{fast}{'geomean':>15}{'best':>8}"
        for row in group:
            yield _figures(row, thresholds)
            yield from _remarks(row.score, thresholds)


def _figures(row: Row, thresholds: Sequence[float]) -> str:
    score = row.score
    fast = "".join(f"{score.share(p).value:>9.3f}" for p in thresholds)
    mean = "-" if score.geomean is None else f"{score.geomean:.2f}x (n={score.timed})"
    best = "-" if score.best is None else f"{score.best:.2f}x"
    built, right = f"{score.built}/{score.tried}", f"{score.right}/{score.tried}"
    name = shortened(row.entrant, NAME_WIDTH - 3)
    return f"  {name:{NAME_WIDTH - 2}}{score.n:>4}{built:>7}{right:>7}{fast}{mean:>15}{best:>8}"


def _remarks(score: Score, thresholds: Sequence[float]) -> Iterator[str]:
    shares = [score.share(p) for p in thresholds]
    zero = score.share(0)
    yield f"    fast_0 {zero.value:.3f}; by point estimate: " + ", ".join(
        f"fast_{share.p:g} {share.by_point:.3f}" for share in shares
    )
    yield "    95 % over problems: " + ", ".join(map(_spread, shares))
    yield from (f"    {text}" for text in _at_k(score))
    counted = [f"missing: {score.missing}"] if score.missing else []
    if score.right_untimed:
        counted.append(f"right, not timed: {score.right_untimed}")
    counted += [
        f"{status.value}: {count}"
        for status, count in sorted(score.counts.items())
        if count and status not in _TOLD_IN_TABLE
    ]
    yield from wrapped(counted, "    ")


def _spread(share: Share) -> str:
    low, high = share.interval
    return f"fast_{share.p:g} {low:.3f} to {high:.3f}"


def _at_k(score: Score) -> Iterator[str]:
    by_k: dict[int, list[str]] = {}
    for at in score.pass_at:
        by_k.setdefault(at.k, []).append(_estimate("pass", at))
    for p, at in score.fast_at:
        by_k.setdefault(at.k, []).append(_estimate(f"fast_{p:g}", at))
    for at in score.pass_at:
        short = f", {at.short} have fewer samples" if at.short else ""
        yield f"{', '.join(by_k[at.k])} (n={at.n}{short})"


def _estimate(name: str, at: AtK) -> str:
    return f"{name}@{at.k} " + ("-" if at.value is None else f"{at.value:.3f}")


def wrapped(parts: Sequence[str], indent: str, width: int = 80) -> Iterator[str]:
    """Parts on as few lines as fit, with commas between."""
    line = indent
    for index, part in enumerate(parts):
        text = part + (", " if index < len(parts) - 1 else "")
        if len(line) + len(text.rstrip()) > width and line != indent:
            yield line.rstrip()
            line = indent
        line += text
    if line != indent:
        yield line.rstrip()


def shortened(name: str, width: int) -> str:
    """The name, or its end: runs of one model differ there."""
    return name if len(name) <= width else "~" + name[-(width - 1) :]


def legend(baseline: str) -> Iterator[str]:
    """What the figures are shares of, and what counts."""
    yield "n: problems asked. fast_p: share of n that is right and more than p times as fast as"
    yield f"{baseline} by the lower end of its 95 % interval; samples count by their mean."
