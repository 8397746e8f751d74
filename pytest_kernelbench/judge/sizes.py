"""The other sizes of a problem (``--kb-shapes``), read out of its text: nothing is run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.errors import ProblemError

if TYPE_CHECKING:
    from pathlib import Path

_DECLARED = "SHAPES"
_LONGEST = 100


def other_sizes(path: Path) -> dict[str, str]:
    """By the name that ``Prepare.size`` takes (``shape0``, ...), the constants it sets, in words.

    Raises ``ProblemError`` where the file declares other sizes in a way that cannot be read.
    """
    declared: list[dict[str, Any]] = []
    for statement in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == _DECLARED for target in targets):
            declared = _literal(path, statement)
    return {f"shape{index}": _words(shape) for index, shape in enumerate(declared)}


def _literal(path: Path, statement: ast.stmt) -> list[dict[str, Any]]:
    assert isinstance(statement, ast.Assign)
    try:
        found = list(ast.literal_eval(statement.value))
    except (ValueError, TypeError):
        found = [None]
    if not all(isinstance(shape, dict) for shape in found):
        message = (
            f"{path}:{statement.lineno}: {_DECLARED} is no list of mappings from names of "
            "constants to plain values: write it as one"
        )
        raise ProblemError(message)
    return found


def _words(shape: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={value}" for name, value in shape.items())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
