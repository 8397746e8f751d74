"""The other sizes of a problem (``--kb-shapes``), read out of its text: nothing is run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.layout import assignments, is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DECLARED = "SHAPES"
_LONGEST = 100


def other_sizes(path: Path) -> dict[str, str]:
    """By the name that ``Prepare.size`` takes (``shape0``, ...), the constants it sets, in words.

    Raises ``ProblemError`` where the file declares other sizes in a way that cannot be read.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in _otherwise(tree):
        raise _unreadable(path, node)
    declared: list[dict[str, Any]] = []
    for name, value in assignments(tree):
        if name == _DECLARED:
            declared = _literal(path, value)
    return {f"shape{index}": _words(shape) for index, shape in enumerate(declared)}


def _otherwise(tree: ast.Module) -> Iterator[Any]:
    """Where the name is bound, or its list changed, but by an assignment of the module's own."""
    own: list[ast.expr] = []
    for statement in tree.body:
        own += statement.targets if isinstance(statement, ast.Assign) else []
        own += [statement.target] if isinstance(statement, ast.AnnAssign) else []
    for node in ast.walk(tree):
        loaded = isinstance(getattr(node, "ctx", None), ast.Load)
        bound = _is_it(node) and not loaded and node not in own
        named = _DECLARED in {getattr(node, "name", ""), getattr(node, "asname", "")}
        called = isinstance(node, ast.Attribute) and _is_it(node.value)
        stored = isinstance(node, ast.Subscript) and _is_it(node.value) and not loaded
        if bound or named or called or stored:
            yield node


def _is_it(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == _DECLARED


def _literal(path: Path, value: ast.expr) -> list[dict[str, Any]]:
    if not is_plain(value):
        raise _unreadable(path, value)
    whole = compile(ast.Expression(value), str(path), "eval")
    try:
        found = list(eval(whole, {"__builtins__": {}}))  # noqa: S307 - values and operators alone
    except (ArithmeticError, ValueError, TypeError):
        raise _unreadable(path, value) from None
    if not all(isinstance(shape, dict) for shape in found):
        raise _unreadable(path, value)
    return found


def _unreadable(path: Path, where: Any) -> ProblemError:
    return ProblemError(
        f"{path}:{where.lineno}: {_DECLARED} is no list of mappings from names of constants to "
        "plain values, which is read and not run: write it as one, in one assignment"
    )


def _words(shape: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={value}" for name, value in shape.items())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
