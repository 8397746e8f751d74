"""The summary as text: at most 80 columns, the same on a terminal and in a log."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_kernelbench.timing.interval import Interval
from pytest_kernelbench.timing.words import control_words
from pytest_kernelbench.untimed import refusal
from pytest_kernelbench.verdict import Measurement, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_kernelbench.gates import Row
    from pytest_kernelbench.score import AtK, Beside, Score, Share

WIDTH = 80
_LEAST_NAME = 10
_LONGEST_BASELINE = 24
_BEYOND = 99_999.5
"""No speedup; but a file of records may hold any number, and a column is narrow."""
_TOLD_IN_TABLE = frozenset({Status.FAST, Status.RIGHT})


def table(rows: Sequence[Row], thresholds: Sequence[float]) -> Iterator[str]:
    """A block for each level; in it, for each entrant, a line of figures and what they leave out.

    ``thresholds`` are those that get a column, fast_0 aside (that is the share that is right).
    """
    heads = [f"fast_{p:g}" for p in thresholds]
    widths, name_width = _widths(heads)
    for level, group in groupby(rows, key=lambda row: row.level):
        cells = ("n", "built", "right", *heads, "geomean", "best")
        yield _line(f"level {level}", name_width, cells, widths)
        for row in group:
            name = "  " + shortened(row.entrant, name_width - 3)
            yield _line(name, name_width, figures(row.score, thresholds), widths)
            yield from _remarks(row.score, thresholds)


def leaderboard(board: Sequence[Row], thresholds: Sequence[float]) -> Iterator[str]:
    """A line for each entrant over all levels, the best first; equal ones share a rank."""
    heads = [f"fast_{p:g}" for p in thresholds]
    widths, name_width = _widths(heads)
    cells = ("n", "built", "right", *heads, "geomean", "best")
    yield _line("entrants", name_width, cells, widths)
    rank, before = 0, None
    for place, row in enumerate(board, start=1):
        standing = tuple(row.score.share(p).value for p in (*thresholds, 0)), row.score.geomean
        rank, before = (rank if standing == before else place), standing
        head = f"{rank:>3} "
        name = head + shortened(row.entrant, name_width - len(head) - 1)
        yield _line(name, name_width, figures(row.score, thresholds), widths)


def families(rows: Sequence[Row], thresholds: Sequence[float]) -> Iterator[str]:
    """A line for each family of operators that has answers; what its figures do not tell below it.

    The other families are named with how many problems they have.
    """
    heads = [f"fast_{p:g}" for p in thresholds]
    widths, name_width = _widths(heads)
    for (level, entrant), group in groupby(rows, key=lambda row: (row.level, row.entrant)):
        cells = ("n", "built", "right", *heads, "geomean", "best")
        title = shortened(f"level {level} {entrant}", name_width - 1)
        yield _line(title, name_width, cells, widths)
        every = list(group)
        for row in (each for each in every if each.score.counts):
            name = f"  {shortened(row.family, name_width - 3)}"
            yield _line(name, name_width, figures(row.score, thresholds), widths)
            yield from wrapped(_counted(row.score), "    ")
        left = [f"{each.family} {each.score.n}" for each in every if not each.score.counts]
        if left:
            yield from wrapped([f"missing altogether: {left[0]}", *left[1:]], "  ", "    ")


def _widths(heads: Sequence[str]) -> tuple[list[int], int]:
    """Of the columns, and of the name before them."""
    widths = [4, 8, 8, *(max(8, len(head) + 1) for head in heads), 14, 7]
    return widths, max(_LEAST_NAME, WIDTH - sum(widths))


def _line(name: str, name_width: int, cells: Sequence[str], widths: Sequence[int]) -> str:
    return f"{name:{name_width}}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
    )


def figures(score: Score, thresholds: Sequence[float]) -> tuple[str, ...]:
    """The columns from ``n`` to ``best``."""
    return (
        str(score.n),
        f"{score.built}/{score.tried}",
        f"{score.right}/{score.tried}",
        *(f"{score.share(p).value:.3f}" for p in thresholds),
        "-" if score.geomean is None else f"{times(score.geomean)} (n={score.timed})",
        "-" if score.best is None else times(score.best),
    )


def times(factor: float) -> str:
    """A speedup in three digits: ``1.84x``, ``12.3x``, ``123x``, ``1.2e+05x``."""
    if factor >= _BEYOND:
        return f"{factor:.1e}x"
    digits = 2 if factor < 9.995 else 1 if factor < 99.95 else 0  # noqa: PLR2004 - where 3 digits end
    return f"{factor:.{digits}f}x"


def _remarks(score: Score, thresholds: Sequence[float]) -> Iterator[str]:
    shares = [score.share(p) for p in thresholds]
    by_point = [f"fast_{share.p:g} {share.by_point:.3f}" for share in shares]
    yield from wrapped(
        [f"fast_0 {score.share(0).value:.3f}; by point estimate: {by_point[0]}", *by_point[1:]],
        "    ",
    )
    spreads = [_spread(share) for share in shares]
    yield from wrapped([f"95 % over problems: {spreads[0]}", *spreads[1:]], "    ")
    for estimates in _at_k(score):
        yield from wrapped(estimates, "    ", "      ")
    for other in score.beside:
        yield f"    against {shortened(other.baseline, _LONGEST_BASELINE)}: {_against(other)}"
    yield from wrapped(_counted(score), "    ")


def _against(other: Beside) -> str:
    return f"geomean {times(other.geomean)} (n={other.n}), {other.faster} shown faster"


def _counted(score: Score) -> list[str]:
    """What the columns do not tell."""
    counted = [f"missing: {score.missing}"] if score.missing else []
    if score.right_untimed:
        counted.append(f"right, no speedup: {score.right_untimed}")
    counted += [
        f"{status.value}: {count}"
        for status, count in sorted(score.counts.items())
        if count and status not in _TOLD_IN_TABLE
    ]
    return counted


def _spread(share: Share) -> str:
    low, high = share.interval
    return f"fast_{share.p:g} {low:.3f} to {high:.3f}"


def _at_k(score: Score) -> Iterator[list[str]]:
    by_k: dict[int, list[str]] = {}
    for at in score.pass_at:
        by_k.setdefault(at.k, []).append(_estimate("pass", at))
    for p, at in score.fast_at:
        by_k.setdefault(at.k, []).append(_estimate(f"fast_{p:g}", at))
    for at in score.pass_at:
        short = f", {at.short} have fewer samples" if at.short else ""
        *estimates, last = by_k[at.k]
        yield [*estimates, f"{last} (n={at.n}{short})"]


def _estimate(name: str, at: AtK) -> str:
    return f"{name}@{at.k} " + ("-" if at.value is None else f"{at.value:.3f}")


def wrapped(
    parts: Sequence[str], indent: str, deeper: str | None = None, width: int = WIDTH
) -> Iterator[str]:
    """Parts on as few lines as fit, with commas between; ``deeper`` indents all but the first."""
    line = indent
    indent = indent if deeper is None else deeper
    for index, part in enumerate(parts):
        text = part + (", " if index < len(parts) - 1 else "")
        if len(line) + len(text.rstrip()) > width and line.strip():
            yield line.rstrip()
            line = indent
        line += text
    if line.strip():
        yield line.rstrip()


def named(titles: Sequence[str], most: int) -> Iterator[str]:
    """Some of these by name, the others by their number."""
    shown = [shortened(title, WIDTH - 5) for title in titles[:most]]
    more = [f"and {len(titles) - most} more"] if len(titles) > most else []
    yield from wrapped([*shown, *more], "    ")


def sentence(text: str) -> Iterator[str]:
    """Running text on indented lines."""
    yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def shortened(name: str, width: int) -> str:
    """The name, or its end: runs of one model differ there."""
    return name if len(name) <= width else "~" + name[-(width - 1) :]


def control(measured: Measurement) -> str:
    """What the A/A control says about the session."""
    if not measured.low > 0:
        return f"reference against itself: {times(measured.speedup)}; {refusal(measured)}"
    return control_words(Interval(measured.speedup, measured.low, measured.high))


def legend(baseline: str) -> Iterator[str]:
    """What the figures are shares of, and what counts."""
    yield "n: problems asked; fast_p: share of n right and more than p times as fast as"
    yield f"{baseline}, by the lower end of the 95 % interval; samples count by their mean"
