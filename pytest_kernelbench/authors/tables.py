"""The tables a study ends in: scores, curves over calls, how answers failed. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.score import at, grouped, sample_of, score
from pytest_kernelbench.verdict import UNJUDGED, UNSCORED, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_kernelbench.authors.study import Cell
    from pytest_kernelbench.catalog.pair import Problem
    from pytest_kernelbench.score import Key, Sample, Score
    from pytest_kernelbench.verdict import Verdict

KINDS_OF_END = {
    "not built": {Status.NOT_BUILT},
    "execution": {Status.CRASHED, Status.RAISED, Status.TIMED_OUT, Status.OUT_OF_MEMORY},
    "wrong result": {
        Status.WRONG_SHAPE,
        Status.WRONG_DTYPE,
        Status.WRONG_VALUE,
        Status.WRONG_STRUCTURE,
        Status.UNSTABLE,
        Status.ALTERED_INPUTS,
    },
    "library only": {Status.NOT_A_KERNEL},
    "right": {Status.RIGHT},
    "fast": {Status.FAST},
    "not judged": set(UNJUDGED),
}
"""The columns of the breakdown: failures to run beside wrong results, as the paper parts them."""


@dataclass(frozen=True)
class Table:
    """Text in rows and columns, with the sentence that says how to read it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """A share for each number of calls; None where too few samples allow an estimate."""

    label: str
    points: tuple[tuple[int, float | None], ...]


@dataclass(frozen=True)
class Figure:
    """Curves over the number of calls a problem."""

    title: str
    curves: tuple[Curve, ...]


def score_table(
    cells: Sequence[Cell],
    problems: Sequence[Problem],
    thresholds: Sequence[float],
    *,
    strict: bool = False,
) -> Table:
    """fast_p per level and cell, of the chosen solutions; without thresholds only what is right."""
    rows = []
    for level in sorted({problem.level for problem in problems}):
        asked = keys(problems, level)
        for cell in cells:
            verdicts = [v for key in asked for v in cell.chosen.get(key, [])]
            result = score(verdicts, asked, (0.0, *thresholds), strict=strict)
            paid = (f"{cell.tokens:,}", f"{cell.money:.2f}" if cell.money else "-")
            rows.append((str(level), cell.entrant, *_scores(result, thresholds), *paid))
    shares = ("right", *(f"fast_{p:g}" for p in thresholds))
    timed_heads = (f"fast_{thresholds[0]:g}, point", "geomean") if thresholds else ()
    return Table(
        "Scores",
        ("level", "model/arm", "n", *shares, *timed_heads, "tokens", "cost"),
        tuple(rows),
        _RIGHT + (_FAST if thresholds else "") + _PAID,
    )


_RIGHT = "right: share of n problems; samples count by their mean. "
_FAST = (
    "fast_p: the same of what is right and shown (lower end of the 95 % interval) to be more "
    "than p times as fast. "
)
_PAID = (
    "Tokens and cost are of the whole arm, on all levels; an arm that starts at another's "
    "solutions has its own calls alone."
)


def _scores(result: Score, thresholds: Sequence[float]) -> Iterator[str]:
    """A row's columns from ``n`` on, as far as they are scores."""
    yield str(result.n)
    for p in (0.0, *thresholds):
        yield f"{result.share(p).value:.3f}"
    if thresholds:
        yield f"{result.share(thresholds[0]).by_point:.3f}"
        yield "-" if result.geomean is None else f"{result.geomean:.2f}x"


def breakdown_table(cells: Sequence[Cell], problems: Sequence[Problem]) -> Table:
    """How answers ended, by cell; of refinements the first turn and the chosen one."""
    rows = []
    for level in sorted({problem.level for problem in problems}):
        asked = keys(problems, level)
        for cell in cells:
            for what, verdicts in _answers(cell, asked):
                counts = [sum(v.status in ends for v in verdicts) for ends in KINDS_OF_END.values()]
                rows.append((str(level), cell.entrant, what, str(len(verdicts)), *map(str, counts)))
    return Table(
        "How answers ended",
        ("level", "model/arm", "answers", "n", *KINDS_OF_END),
        tuple(rows),
        "execution: it was built, and died, raised, hung or ran out of memory; "
        "wrong result: it ran to its end and did not agree.",
    )


def _answers(cell: Cell, asked: Sequence[Key]) -> Iterator[tuple[str, list[Verdict]]]:
    if not cell.refined:
        yield "all", [v for key in asked for v in cell.chosen.get(key, [])]
        return
    yield "first", [turns[0] for key in asked for turns in cell.calls.get(key, []) if turns]
    yield "chosen", [v for key in asked for v in cell.chosen.get(key, [])]


def figures(
    cells: Sequence[Cell],
    problems: Sequence[Problem],
    thresholds: Sequence[float],
    *,
    strict: bool = False,
) -> list[Figure]:
    """Success within k calls a problem, by level: right, and fast_p for each p."""
    found = []
    for level in sorted({problem.level for problem in problems}):
        asked = keys(problems, level)
        for p in (0.0, *thresholds):
            name = "right" if p == 0 else f"fast_{p:g}"
            curves = tuple(curve(cell, asked, p, strict=strict) for cell in cells)
            found.append(Figure(f"Level {level}: {name} within k calls a problem", curves))
    return found


def calls_tables(figures: Sequence[Figure], at_k: Sequence[int] = ()) -> list[Table]:
    """The same as tables: sampling and refinement beside each other at equal numbers of calls."""
    tables = []
    for figure in figures:
        points = {c.label: dict(c.points) for c in figure.curves}
        most = sorted({k for known in points.values() for k in known})
        columns = [k for k in most if not at_k or k in at_k]
        rows = tuple(
            (label, *(_share(known.get(k)) for k in columns)) for label, known in points.items()
        )
        tables.append(Table(figure.title, ("model/arm", *map(str, columns)), rows))
    return tables


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def curve(cell: Cell, asked: Sequence[Key], p: float, *, strict: bool = False) -> Curve:
    """Of samples the unbiased fast_p@k, of refinements the best of their first k turns."""
    success: Callable[[Sample], bool] = lambda sample: sample.faster(p)  # noqa: E731
    if not cell.refined:
        groups = grouped(
            (v for tries in cell.calls.values() for turns in tries for v in turns),
            asked,
            strict=strict,
        )
        most = max(map(len, groups), default=0)
        shares = tuple((k, at(groups, k, success).value) for k in range(1, most + 1))
        return Curve(cell.entrant, shares)
    most = max((len(t) for turns in cell.calls.values() for t in turns), default=0)
    return Curve(
        cell.entrant,
        tuple((k, _within(cell, asked, k, success, strict=strict)) for k in range(1, most + 1)),
    )


def _within(
    cell: Cell,
    asked: Sequence[Key],
    turns: int,
    success: Callable[[Sample], bool],
    *,
    strict: bool,
) -> float | None:
    shares = []
    for key in asked:
        told = [[v for v in each if v.status not in UNSCORED] for each in cell.calls.get(key, [])]
        solved = [
            any(success(sample_of(v, strict=strict)) for v in verdicts[:turns])
            for verdicts in told
            if verdicts
        ]
        if solved or not told:  # what nobody could judge is no failure of the model
            shares.append(sum(solved) / len(solved) if solved else 0.0)
    return sum(shares) / len(shares) if shares else None


def keys(problems: Sequence[Problem], level: int) -> list[Key]:
    """The problems of one level."""
    return [(each.level, each.number) for each in problems if each.level == level]
