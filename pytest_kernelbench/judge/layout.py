"""How a problem's file of this project must be written: checked on its text, nothing is run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALLOWED_IMPORTS = frozenset({"math", "torch", "torch.nn", "torch.nn.functional"})
PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load, ast.BinOp)
PLAIN_OPERATORS = (ast.operator,)


def violations(path: Path) -> Iterator[str]:
    """Name what in the file at ``path`` departs from docs/problems.md."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    if not ast.get_docstring(tree):
        yield "no docstring that says what is computed"
    assigned = dict(assignments(tree))
    if "SMOKE" not in assigned:
        yield "no SMOKE: a small size must be declared"
    for name, value in assigned.items():
        if not name.isupper():
            yield f"module-level name {name}: constants are UPPER_CASE, nothing else is assigned"
        elif not is_plain(value):
            yield f"{name} is derived at module level: overriding what it uses would not change it"
    for name in _imports(tree):
        if name not in ALLOWED_IMPORTS:
            yield f"imports {name}: only {', '.join(sorted(ALLOWED_IMPORTS))} are allowed"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"cuda", "manual_seed"}:
            yield f"line {node.lineno}: .{node.attr}: device and seed are the judge's"


def is_plain(value: ast.expr) -> bool:
    """Whether it is made of values and operators alone (``[67] * 16``): no name, no call."""
    return all(isinstance(node, PLAIN + PLAIN_OPERATORS) for node in ast.walk(value))


def assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that statements of the module itself assign to, each with its value."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from modules & ALLOWED_IMPORTS or {node.module or "."}
