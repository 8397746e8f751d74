"""A study's end as files: Markdown to read, HTML with plots, JSON for programs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import msgspec

from pytest_kernelbench.authors.files import write_whole
from pytest_kernelbench.authors.pictures import calls_picture, speed_pictures
from pytest_kernelbench.authors.tables import (
    Table,
    breakdown_table,
    calls_tables,
    figures,
    score_table,
)
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.reports import plots, svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_kernelbench.authors.study import Cell
    from pytest_kernelbench.authors.study_spec import Study
    from pytest_kernelbench.authors.tables import Figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: Canvas; color-scheme: light dark }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
td, th { padding: .2rem .7rem; text-align: right }
th { border-bottom: 1px solid var(--soft) }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left }
p.note { color: var(--soft) } figure { max-width: 34rem; margin: 1rem 0 }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem }
"""


def write_report(study: Study, cells: Sequence[Cell]) -> list[Path]:
    """Write ``report.md``, ``report.json`` and, where it can be drawn, ``report.html``."""
    tables, drawn = study_tables(study, cells), study_figures(study, cells)
    remarks = [f"{cell.entrant}: {remark}" for cell in cells for remark in cell.remarks]
    name = study.spec.name
    plain = {
        "name": name,
        "device": sorted({v.device for cell in cells for vs in cell.chosen.values() for v in vs}),
        "remarks": remarks,
        "tables": [msgspec.to_builtins(table) for table in tables],
        "figures": [msgspec.to_builtins(figure) for figure in drawn],
    }
    texts = {
        "report.md": "\n".join(_markdown(name, tables, remarks)),
        "report.json": msgspec.json.format(msgspec.json.encode(plain), indent=1).decode() + "\n",
    }
    if not why_no_html():
        texts["report.html"] = "\n".join(_html(study, cells, tables, remarks))
    for file, text in texts.items():
        write_whole(study.folder / file, text)
    return [study.folder / file for file in texts]


def why_no_html() -> str:
    """Why there is no HTML report here, or nothing."""
    try:
        plots.available()
    except UsageError as error:
        return str(error)
    return ""


def study_figures(study: Study, cells: Sequence[Cell]) -> list[Figure]:
    """Every curve over calls."""
    strict = study.settings.strict
    return figures(cells, study.problems, study.spec.thresholds, strict=strict)


def study_tables(study: Study, cells: Sequence[Cell]) -> list[Table]:
    """Every table, in the order of reading."""
    thresholds = study.spec.thresholds
    return [
        score_table(cells, study.problems, thresholds, strict=study.settings.strict),
        *calls_tables(study_figures(study, cells), study.spec.at_k),
        breakdown_table(cells, study.problems),
    ]


def markdown(table: Table) -> Iterator[str]:
    """One table."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    yield f"## {table.title}"
    yield ""
    for row in (table.header, tuple("-" * width for width in widths), *table.rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(cells)} |"
    if table.note:
        yield ""
        yield table.note
    yield ""


def _markdown(name: str, tables: Sequence[Table], remarks: Sequence[str]) -> Iterator[str]:
    yield f"# {name}"
    yield ""
    for remark in remarks:
        yield f"- {remark}"
    if remarks:
        yield ""
    for table in tables:
        yield from markdown(table)


def _html(
    study: Study, cells: Sequence[Cell], tables: Sequence[Table], remarks: Sequence[str]
) -> Iterator[str]:
    title = html.escape(study.spec.name)
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{svg.style()}{_STYLE}</style><h1>{title}</h1>"
    for remark in remarks:
        yield f"<p class=note>{html.escape(remark)}</p>"
    yield plots.legend([cell.entrant for cell in cells])
    drawn = {
        figure.title: calls_picture(figure, number)
        for number, figure in enumerate(study_figures(study, cells))
    }
    for table in tables:
        yield f"<h2>{html.escape(table.title)}</h2>"
        if table.title in drawn:
            yield f"<figure>{drawn[table.title]}</figure>"
        yield "<table>" + _row("th", table.header)
        yield from (_row("td", row) for row in table.rows)
        yield "</table>"
        if table.note:
            yield f"<p class=note>{html.escape(table.note)}</p>"
        if table is tables[0]:
            yield from (f"<figure>{each}</figure>" for each in speed_pictures(study, cells))
    yield "</html>"


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
