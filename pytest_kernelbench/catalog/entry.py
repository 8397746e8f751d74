"""Which entry point a source defines, told from its syntax tree: nothing is imported."""

from __future__ import annotations

import ast
import io
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = ("custom_kernel", "run", "forward")
"""Functions that are called as ``ModelNew.forward`` is; the first that is defined is taken."""
_BINDS_FORWARD = re.compile(r"\.\s*def\s*\(\s*\"([A-Za-z_]\w*)\"")
_MODULE = "PYBIND11_MODULE"
_MODEL_NEW = re.compile(r"^[ \t]*(?:class[ \t]+)?ModelNew\b", re.MULTILINE)
_POPCORN = re.compile(r"^(?:#|//)!POPCORN[ \t]+leaderboard[ \t]+(\S+)", re.MULTILINE)
_OWN = re.compile(r"^(?:def[ \t]+(get_inputs|get_init_inputs)|class[ \t]+(Model))\b", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """How a source is entered, or why it cannot be."""

    name: str = ""
    adapter: str = ""
    """See ``Claim.adapter``."""
    refusal: str = ""
    skipped: bool = False
    task: str = ""
    """The name of the problem, where the source says it in a line of its own."""


def python_entry(text: str, *, model: bool = False) -> Entry | None:
    """The entry point of Python source; None if it has none that is known.

    ``model`` says that ``Model`` is one too: where a benchmark's tasks are laid out in folders.
    """
    names = top_level_names(text)
    if names is None:
        # Speaks of ModelNew and cannot be parsed: better judged "not built" than passed over.
        return Entry("ModelNew") if _MODEL_NEW.search(text) else None
    task = popcorn(text)
    if "ModelNew" in names:
        return Entry("ModelNew", task=task)
    if model and "Model" in names:
        return Entry("Model", task=task)
    for function in FUNCTIONS:
        if names.get(function) == "def":
            return Entry(function, function, task=task)
    return _known_elsewhere(text, names)


def _known_elsewhere(text: str, names: dict[str, str]) -> Entry | None:
    """Entry points of benchmarks whose kernels answer other questions than ours."""
    if names.get("solution") == "def" and ("distributed" in text or "cuda_helpers" in text):
        why = "solution() runs on several ranks: needs N devices and torch.distributed"
        return Entry("solution", refusal=why, skipped=True)
    for name, kind in names.items():
        if kind == "def" and name.endswith("_kernel_impl"):
            why = (
                f"defines {name}(), which replaces an operator (BackendBench): not a KernelBench "
                "solution; give it a class ModelNew that calls it"
            )
            return Entry(name, refusal=why)
    return None


def cpp_entry(text: str) -> Entry | None:
    """The entry point of C++ or CUDA source; None if it is nobody's kernel."""
    bound = _BINDS_FORWARD.findall(text) if _MODULE in text else []
    task = popcorn(text)
    if "forward" in bound:
        return Entry("forward", "pybind", task=task)
    if bound:
        why = (
            f"binds {', '.join(bound)} but no function called forward, which would be called: "
            "bind one"
        )
        return Entry(bound[0], refusal=why)
    if task or re.search(r"\bcustom_kernel\s*\(", text):
        why = (
            "not supported: a C++ custom_kernel that a program of another benchmark calls; "
            'bind it with PYBIND11_MODULE as "forward"'
        )
        return Entry("custom_kernel", refusal=why)
    return None


def popcorn(text: str) -> str:
    """The leaderboard that ``#!POPCORN leaderboard NAME`` names; empty if none."""
    match = _POPCORN.search(text, 0, 4000)
    return match[1] if match else ""


def own_definitions(text: str) -> tuple[str, ...]:
    """A remark on what a solution with ``ModelNew`` defines of the problem again, if it does."""
    own = dict.fromkeys(a or b for a, b in _OWN.findall(text))
    return (f"its own {', '.join(own)} are not used: the problem's file decides",) if own else ()


@lru_cache(maxsize=64)
def top_level_names(text: str) -> dict[str, str] | None:
    """Names bound at the top level and how (``class``, ``def``, ``name``); None if no Python."""
    tree = parsed(text)
    if tree is None:
        return None
    return {name: kind for statement in reached(tree.body) for name, kind in _bound(statement)}


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of a stranger's text; None if it is no Python, or too much of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of "\d" in a string: no business of ours.
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements(text: str) -> list[ast.stmt]:
    """Those at the top level of a stranger's text; none if it is no Python, or too much of it."""
    tree = parsed(text)
    return [] if tree is None else tree.body


def lines_of(text: str) -> list[str]:
    """Its lines with their ends, as syntax trees count them: a form feed or U+2028 ends none."""
    return io.StringIO(text, newline="").readlines()


def reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in their order, with those of branches in the place of an ``if`` or ``try``.

    An ``elif`` lies a level deeper than its ``if``: there may be more than Python's stack has room.
    """
    left = body[::-1]
    while left:
        statement = left.pop()
        if isinstance(statement, ast.If | ast.Try):
            left += [*statement.body, *statement.orelse][::-1]
        else:
            yield statement


def _bound(statement: ast.stmt) -> list[tuple[str, str]]:
    if isinstance(statement, ast.ClassDef):
        return [(statement.name, "class")]
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return [(statement.name, "def")]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [(each.id, "name") for each in targets if isinstance(each, ast.Name)]
    if isinstance(statement, ast.ImportFrom):
        return [(alias.asname or alias.name, "import") for alias in statement.names]
    return []
