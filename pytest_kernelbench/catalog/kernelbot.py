"""Tasks of a kernelbot: ``reference.py`` with ``generate_input`` and ``ref_kernel``.

References and submissions import modules that lie beside them (``task``, ``utils``): they are laid
beside whatever is made of them here, so that neither has to stay where it came from.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.entry import (
    lines_of,
    parsed,
    reached,
    statements,
    top_level_names,
)
from pytest_kernelbench.catalog.material import source_text
from pytest_kernelbench.catalog.task_settings import settings_of
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.folders import lies_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Files = tuple[tuple[str, str], ...]

SETTINGS_FILE = "task.yml"
_TASK = "task"
_TYPES = """\
# Written by pytest-kernelbench: the task's own module does not lie beside the submission.
from typing import Any

input_t = output_t = Any
"""
_MOST_PARENTS = 4
"""``problems/set/task/solutions/correct/x.py``: helpers lie up to here above a submission."""
_MOST_MODULES = 20
_INSTALLED = frozenset({"torch", "triton", "numpy"})
"""Never a task's own, whatever lies beside it."""

_MODULES = """\
# Written by pytest-kernelbench: what lies beside {file} and is imported there.
def _kb_modules(texts):
    import sys
    import types

    for name, text in texts.items():
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, name + ".py", "exec"), module.__dict__)


_kb_modules({texts!r})

"""
_MODEL = """

# What follows was appended by pytest-kernelbench: ref_kernel as the Model of a problem, with a
# setting of {settings}; the others are other sizes.
import inspect as _kb_inspect

import torch

KB_SETTING = {setting!r}
SHAPES = {shapes!r}


class Model(torch.nn.Module):
    def forward(self, *inputs):
        return ref_kernel(inputs[0] if len(inputs) == 1 else inputs)


def get_inputs():
    setting = dict(KB_SETTING)
    if "seed" in _kb_inspect.signature(generate_input).parameters:
        setting["seed"] = int(torch.randint(0, 2**31 - 1, (1,), device="cpu"))
    data = generate_input(**setting)
    return list(data) if isinstance(data, tuple) else [data]


def get_init_inputs():
    return []
"""


def is_task(text: str) -> bool:
    """Whether a text is a kernelbot's reference."""
    names = top_level_names(text) or {}
    return names.get("ref_kernel") == "def" and names.get("generate_input") == "def"


def task_name(folder: str) -> str:
    """A task's name out of its folder's, which may end in its language: ``sort_py``."""
    return folder.removesuffix("_py").removesuffix("_cu")


def as_problem(path: Path, text: str) -> Files:
    """The reference as a problem, and the modules beside it. Raises ``UsageError``.

    The problem needs nothing beside it: those modules are in it, too.
    """
    settings = _settings(path, text)
    *others, setting = [{k: v for k, v in each.items() if k != "seed"} for each in settings]
    shapes: list[dict[str, object]] = []
    for other in others:
        shape: dict[str, object] = {"KB_SETTING": other}
        if other != setting and shape not in shapes:
            shapes.append(shape)
    beside = modules(text, (path.parent, path.parent.parent), skip=path.name)
    inner = {name.removesuffix(".py"): module for name, module in reversed(beside)}
    head = _MODULES.format(file=path.name, texts=inner) if inner else ""
    tail = _MODEL.format(settings=SETTINGS_FILE, setting=setting, shapes=shapes)
    cut = _after_future(text)
    lines = lines_of(text)
    main = "".join(lines[:cut]) + head + "".join(lines[cut:]).rstrip("\n") + tail
    return ((path.name, main), *beside)


def submission_modules(text: str, path: Path | None, problem: Path) -> Files:
    """What a submission imports that lies above it, or else beside its problem."""
    above = () if path is None else (path.parent, *list(path.parents)[1:_MOST_PARENTS])
    found = modules(text, (*above, problem.parent), skip="solution.py")
    names = {name for name, _ in found}
    if f"{_TASK}.py" not in names and _TASK in _imported(text):
        return (*found, (f"{_TASK}.py", _TYPES))
    return found


def modules(text: str, folders: Sequence[Path], skip: str = "") -> Files:
    """The modules that a text imports and that lie in one of the folders; and what those import."""
    found: dict[str, str] = {}
    wanted = sorted(_imported(text))
    while wanted and len(found) < _MOST_MODULES:
        name = f"{wanted.pop(0)}.py"
        if name in found or name == skip:
            continue
        module = next((t for folder in folders if (t := _read(folder, name)) is not None), None)
        if module is not None:
            found[name] = module
            wanted += sorted(_imported(module))
    return tuple(found.items())


def _imported(text: str) -> set[str]:
    """Modules by their plain names; those of a package are none of a task's."""
    tree = parsed(text)
    if tree is None:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    known = _INSTALLED | sys.stdlib_module_names
    return {name for name in names if name.isidentifier() and name not in known}


def _read(folder: Path, name: str) -> str | None:
    """Through no link that leads out of the folder: its text goes to the solution."""
    path = folder / name
    try:
        return source_text(path) if lies_in(folder, path) else None
    except OSError:
        return None


def _settings(path: Path, text: str) -> list[dict[str, object]]:
    beside = path.parent / SETTINGS_FILE
    settings = settings_of(beside) if beside.is_file() else []
    if settings:
        return settings
    needed = sorted(_needed(statements(text)) - {"seed"})
    if needed:
        message = (
            f"{path}: generate_input needs {', '.join(needed)}, but no {SETTINGS_FILE} beside it "
            "lists tests or benchmarks: put it there"
        )
        raise UsageError(message)
    return [{}]


def _needed(body: list[ast.stmt]) -> set[str]:
    """The arguments of ``generate_input`` that have no default; the last definition counts."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    defined = [node for node in reached(body) if isinstance(node, kinds)]
    function = next((node for node in defined[::-1] if node.name == "generate_input"), None)
    if function is None:
        return set()
    places = [*function.args.posonlyargs, *function.args.args]
    bare = places[: len(places) - len(function.args.defaults)]
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return {each.arg for each in [*bare, *(each for each, default in pairs if default is None)]}


def _after_future(text: str) -> int:
    """How many lines lie before the first that may be preceded by other statements."""
    cut = 0
    for statement in statements(text):
        docstring = (
            cut == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        )
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (docstring or future):
            break
        cut = statement.end_lineno or cut
    return cut
