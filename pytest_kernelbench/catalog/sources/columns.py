"""Which column of a row holds what, found by name; values are taken only in the types that fit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_kernelbench.catalog.naming import Place, level_of, parse

NAMES = {
    "code": (
        "custom_code", "kernel_code", "solution_code", "model_new", "modelnew", "cuda_code",
        "generated_code", "custom_model_src", "solution", "source", "kernel", "code", "answer",
        "response", "completion", "generation", "output",
    ),
    "reference": (
        "ref_code", "reference_code", "problem_code", "pytorch_code_module", "original_model_src",
        "reference",
    ),
    "functional": ("pytorch_code_functional",),
    "level": ("level", "level_id"),
    "number": ("problem_id", "task_id", "problem_number", "number"),
    "name": ("problem", "problem_name", "op_name", "definition", "op", "name", "title"),
    "sample": ("sample_id", "sample", "attempt", "trial"),
    "entrant": ("entrant", "model", "model_name", "author", "display_name", "run", "user_name"),
    "file": ("file", "path", "solution_path", "kernel_path"),
    "id": ("id", "run_id"),
    "title": ("kernel_name", "file_name", "submission_id"),
}  # fmt: skip
"""Known names of columns, the most telling first; case and punctuation do not count."""


class ColumnError(ValueError):
    """A value that does not fit its column: which, what it is, what was wanted."""


def plain(name: str) -> str:
    """A column's name without case and punctuation."""
    return re.sub(r"[\W_]", "", name).lower()


_SHOWN = 40
_BY_PLAIN = {role: tuple(map(plain, names)) for role, names in NAMES.items()}


def column(names: Mapping[str, Any] | list[str], role: str) -> str | None:
    """The column that plays a role, if any has one of its names."""
    by_plain = {plain(name): name for name in names}
    return next((by_plain[name] for name in _BY_PLAIN[role] if name in by_plain), None)


def text_of(row: Mapping[str, Any], role: str) -> str | None:
    """The text in a role's column; None where there is no such column or nothing in it."""
    name = column(row, role)
    value = None if name is None else row[name]
    if value is None:
        return None
    if not isinstance(value, str):
        message = f"{name} holds {kind(value)}, not text"
        raise ColumnError(message)
    return value if value.strip() else None


def label_of(row: Mapping[str, Any], role: str) -> str:
    """The text or whole number in a role's column, as text; empty where there is none."""
    name = column(row, role)
    value = None if name is None else row[name]
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        message = f"{name} holds {kind(value)}, not a name"
        raise ColumnError(message)
    return str(value).strip()


def whole_of(row: Mapping[str, Any], role: str) -> int | None:
    """The whole number in a role's column."""
    name = column(row, role)
    value = None if name is None else row[name]
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as tables have it that know no missing whole numbers
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        message = f"{name} is {shown(value)}, not a whole number"
        raise ColumnError(message)
    return value


def place_of(row: Mapping[str, Any], key: str = "") -> Place:
    """Which problem a row is about, by all of its columns that say so and by its key."""
    level = _level(row)
    named = parse(label_of(row, "name"))
    keyed = parse(key)
    number = None
    name = column(row, "number")
    if name is not None and row[name] is not None:
        value = row[name]
        if isinstance(value, str) and not value.strip().isdigit():
            place = parse(value)
            level = place.level if level is None else level
            number, named = place.number, named if named.name else place
            if number is None and not place.name:
                message = f"{name} is {shown(value)}, not a problem's number or name"
                raise ColumnError(message)
        else:
            number = whole_of(row, "number")
    places = (named, keyed)
    if level is None:
        level = next((p.level for p in places if p.level is not None), level_of(key))
    if number is None:
        number = next((p.number for p in places if p.number is not None), None)
    return Place(level, number, next((p.name for p in places if p.name), ""), named.sample)


def _level(row: Mapping[str, Any]) -> int | None:
    name = column(row, "level")
    if name is None or row[name] is None:
        return None
    value = row[name]
    if isinstance(value, str) and not value.strip().isdigit():
        level = level_of(value)
        if level is None:
            message = f"{name} is {shown(value)}, not a level"
            raise ColumnError(message)
        return level
    return whole_of(row, "level")


def kind(value: object) -> str:
    """What a JSON value is, for people."""
    words = {bool: "true or false", int: "a number", float: "a number", str: "text"}
    words |= {list: "a list", dict: "an object"}
    return words.get(type(value), f"a {type(value).__name__}")


def shown(value: object) -> str:
    """A value, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
