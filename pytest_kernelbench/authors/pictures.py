"""A study's pictures: shares over calls, and fast_p over p where something was timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.authors.tables import keys
from pytest_kernelbench.reports import curves, plots
from pytest_kernelbench.score import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_kernelbench.authors.study import Cell
    from pytest_kernelbench.authors.study_spec import Study
    from pytest_kernelbench.authors.tables import Figure


def calls_picture(figure: Figure, number: int) -> str:
    """One figure as SVG; ``number`` sets it apart from the others of its page."""
    drawn = []
    for slot, curve in enumerate(figure.curves):
        known = [(k, share) for k, share in curve.points if share is not None]
        calls, shares = [k for k, _ in known], [share for _, share in known]
        drawn.append(plots.Curve(curve.label, slot, calls, shares))
    return plots.shares_by_call(drawn, f"calls-{number}", figure.title, "calls a problem (k)")


def speed_pictures(study: Study, cells: Sequence[Cell]) -> Iterator[str]:
    """fast_p over p, a picture a level; none where nothing is timed."""
    every = [v for cell in cells for verdicts in cell.chosen.values() for v in verdicts]
    speedups = curves.speedups_of(every, strict=study.settings.strict)
    if not speedups:
        return
    scale = curves.scale_of_p(max(speedups))
    for level in sorted({problem.level for problem in study.problems}):
        asked = keys(study.problems, level)
        drawn = []
        for slot, cell in enumerate(cells):
            verdicts = [v for key in asked for v in cell.chosen.get(key, [])]
            groups = grouped(verdicts, asked, strict=study.settings.strict)
            drawn.append(curves.fast_p_curve(cell.entrant, slot, groups, scale))
        yield plots.fast_p(drawn, f"fast-{level}", f"Level {level}: fast_p over p")
