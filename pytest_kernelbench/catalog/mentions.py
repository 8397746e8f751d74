"""Which files a source speaks of, told from its text: nothing is imported.

Of Python the strings and imports, never its comments or longer texts: to say where a kernel comes
from is not to use it. Of C++ and CUDA, also within Python, what they include.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.entry import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_IMPORTERS = frozenset({"import_module", "__import__"})
_LONGEST_PATH = 512


@dataclass(frozen=True)
class Mentions:
    """What a text names."""

    names: frozenset[str] = frozenset()
    """Files and folders, each part of a path by itself."""
    modules: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    """``*.cu``, and the like."""
    endings: frozenset[str] = frozenset()
    """``.cu``, as in ``name.endswith(".cu")``."""


def of_cpp(text: str) -> Mentions:
    """What C++ or CUDA includes."""
    return Mentions(frozenset(part for path in _INCLUDES.findall(text) for part in path.split("/")))


def of_python(text: str) -> Mentions:
    """What Python imports, and what its strings name; nothing if it cannot be parsed."""
    tree = parsed(text)
    if tree is None:
        return Mentions()
    said: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            said.update(_parts(node.value))
        else:
            modules.update(part for name in _imported(node) for part in name.split("."))
    patterns = frozenset(part for part in said if "*" in part)
    endings = frozenset(part for part in said if re.fullmatch(r"\.\w+", part))
    return Mentions(frozenset(said), frozenset(modules), patterns, endings)


def _parts(text: str) -> Iterable[str]:
    if "\n" in text or len(text) > _LONGEST_PATH:
        return of_cpp(text).names
    return text.split("/")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.Call) and node.args:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0]
        if called in _IMPORTERS and isinstance(first, ast.Constant):
            yield str(first.value)
