"""Archives: files with a solution a row. Read only where somebody names them, never by suffix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.catalog.adapters import FUNCTIONAL
from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.entry import python_entry
from pytest_kernelbench.catalog.material import Material, source_text, too_large, too_long
from pytest_kernelbench.catalog.sources import columns, tables
from pytest_kernelbench.catalog.sources.packed import claim_packed, is_packed
from pytest_kernelbench.catalog.sources.text import claim_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_kernelbench.catalog.pair import Pair
    from pytest_kernelbench.catalog.solutions import Matchmaker


@dataclass(frozen=True)
class Entry:
    """One row of an archive."""

    number: int
    claim: Claim | None
    """None for a row that answers nothing: a problem without a solution."""


def row_name(number: int) -> str:
    """What a row is called in node ids."""
    return f"row{number}"


def pairs(path: Path, matchmaker: Matchmaker) -> dict[str, Pair]:
    """The rows that answer a problem, by name."""
    made = (
        (row_name(row.number), matchmaker.pair(path, row.claim))
        for row in read(path)
        if row.claim is not None
    )
    return {name: pair for name, pair in made if not isinstance(pair, str)}


class _NoSourceError(Exception):
    """A row has no column with source; perhaps no row of its file has."""


def read(path: Path) -> Iterator[Entry]:
    """Every row, in order; a bad row is a refusal. ``UsageError`` where the file is no table."""
    reader = _Reader(path)
    sourceless: list[Entry] = []
    seen = 0
    for row in tables.rows(path):
        try:
            entry = Entry(row.number, reader.claim(row))
        except _NoSourceError as error:
            refused = replace(reader.base(row), refusal=str(error))
            sourceless.append(Entry(row.number, refused))
            continue
        seen += 1
        yield from sourceless
        sourceless.clear()
        yield entry
    if sourceless and not seen and len(sourceless) > 1:
        first = sourceless[0]
        assert first.claim is not None
        why = f"none of its {len(sourceless)} rows holds source; the first: {first.claim.refusal}"
        yield Entry(first.number, replace(first.claim, refusal=why))
    else:
        yield from sourceless


class _Reader:
    """Understands the rows of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._counts: dict[tuple[str, int | None, int | None, str], int] = {}

    def base(self, row: tables.Row) -> Claim:
        origin = f"{self.path.name}:{row.number}"
        return Claim(self.path.stem, origin=origin, format="archive")

    def claim(self, row: tables.Row) -> Claim | None:
        base = self.base(row)
        if row.trouble:
            return replace(base, refusal=row.trouble)
        if not isinstance(row.value, dict):
            return replace(base, refusal=f"the row is {columns.kind(row.value)}, not an object")
        try:
            if is_packed(row.value):
                return self._numbered(claim_packed(row.value, base), row.value)
            return self._row(row.value, row.key, base)
        except columns.ColumnError as error:
            return replace(base, refusal=str(error))

    def _row(self, row: Mapping[str, Any], key: str, base: Claim) -> Claim | None:
        place = columns.place_of(row, key)
        base = replace(
            base,
            entrant=columns.label_of(row, "entrant") or base.entrant,
            level=place.level,
            number=place.number,
            name=place.name,
        )
        column = columns.column(row, "code")
        if column is None:
            return self._filed(row, base)
        code = columns.text_of(row, "code")
        if code is None:
            return None
        base = self._numbered(base, row)
        name = f"{self.path.stem}_{base.origin.rpartition(':')[2]}"
        return _with_functional(claim_text(code, base, name), row)

    def _filed(self, row: Mapping[str, Any], base: Claim) -> Claim | None:
        """The row of an index: the source lies in a file beside it."""
        beside = self._beside(row)
        if beside is None:
            known = "custom_code, code, kernel_code, CUDA_Code, solution, file"
            message = (
                f"no column holds source: it has {', '.join(map(str, row)) or 'none'}; "
                f"looked for {known} and others (docs/formats.md)"
            )
            raise _NoSourceError(message)
        base = self._numbered(replace(base, format="index of files"), row)
        try:
            if not beside.resolve().is_relative_to(self.path.parent.resolve()):
                return replace(base, refusal=f"{beside} lies outside of the index's folder")
            if why := too_large(beside):
                return replace(base, refusal=why)
            text = source_text(beside)
        except (OSError, RuntimeError, ValueError) as error:  # ValueError: no name of a file
            why = getattr(error, "strerror", None) or str(error)
            return replace(base, refusal=f"{beside} cannot be read: {why}")
        base = replace(base, notes=(*base.notes, f"source: {beside}"))
        if beside.name == "solution.py":
            entry = python_entry(text, model=True)
            if entry is not None and entry.name == "Model":
                material = Material((("solution.py", text),))
                return replace(base, entry="Model", material=material)
        return claim_text(text, base, beside.stem)

    def _beside(self, row: Mapping[str, Any]) -> Path | None:
        if name := columns.text_of(row, "file"):
            places = (self.path.parent / name, self.path.parent / "solutions" / name)
            return next((place for place in places if _is_file(place)), places[0])
        run = columns.label_of(row, "id")
        place = self.path.parent / "runs" / run / "solution.py"
        return place if run and _is_file(place) else None

    def _numbered(self, claim: Claim, row: Mapping[str, Any]) -> Claim:
        """With the sample that the row says, or else the next of its entrant and problem."""
        sample = columns.whole_of(row, "sample")
        if sample is None:
            key = (claim.entrant, claim.level, claim.number, claim.name)
            sample = self._counts.get(key, 0)
            self._counts[key] = sample + 1
        return replace(claim, sample=sample)


def _is_file(path: Path) -> bool:
    """Also of a name that no file can have, or that leads where nobody may look."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _with_functional(claim: Claim, row: Mapping[str, Any]) -> Claim:
    """C++ that comes with a ``Model`` whose forward takes it as ``fn``."""
    functional = columns.text_of(row, "functional")
    if claim.adapter != "pybind" or claim.material is None or functional is None:
        return claim
    if problem := too_long(functional):
        return replace(claim, refusal=problem)
    files = (*claim.material.files, (FUNCTIONAL, functional))
    return replace(claim, adapter="fn", material=Material(files))
