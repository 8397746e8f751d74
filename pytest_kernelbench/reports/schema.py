"""The JSON Schema of a record, made from the types themselves.

python -m pytest_kernelbench.reports.schema > docs/record.schema.json
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from typing import Any

import msgspec

from pytest_kernelbench.reports.records import Record
from pytest_kernelbench.verdict import SCHEMA_VERSION, Measurement, Provenance, Roofline, Verdict

_TYPES = (Record, Verdict, Measurement, Provenance, Roofline)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Of one line of ``--kb-json``: a verdict's fields beside those of the record around it."""
    _, parts = msgspec.json.schema_components(_TYPES)
    for kind in _TYPES:
        _describe(parts[kind.__name__], kind)
    record, verdict = parts.pop("Record"), parts.pop("Verdict")
    head = {name: told for name, told in record["properties"].items() if name != "verdict"}
    required = [name for name in record["required"] if name != "verdict"]
    made = {
        "$schema": _DIALECT,
        "title": f"pytest-kernelbench record, schema {SCHEMA_VERSION}",
        "description": "One line of a file of --kb-json: a verdict with what sums it up elsewhere.",
        "type": "object",
        "properties": head | verdict["properties"],
        "required": [*required, *verdict["required"]],
        "$defs": dict(sorted(parts.items())),
    }
    made["properties"]["schema"]["const"] = SCHEMA_VERSION
    return _nullable(made)  # type: ignore[no-any-return]


def _describe(part: dict[str, Any], kind: type) -> None:
    """Give each field the sentence that stands below it in the source."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - for the type checker
    for field, below in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            told = " ".join(str(below.value.value).split())
            part["properties"][field.target.id]["description"] = told


def _nullable(part: Any) -> Any:  # noqa: ANN401 - any of JSON's kinds
    """What was no number (NaN, infinity) is null in a record."""
    if isinstance(part, list):
        return [_nullable(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {name: _nullable(value) for name, value in part.items()}
    if made.get("type") == "number":
        made["type"] = ["number", "null"]
    if made.get("default") is not None and isinstance(made["default"], bytes):
        made["default"] = made["default"].decode()
    return made


def text() -> str:
    """As it is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
