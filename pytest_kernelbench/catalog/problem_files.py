"""Problems in other forms than a file in a level's folder: read as text, never executed here."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_kernelbench.catalog import kernelbot
from pytest_kernelbench.catalog.entry import statements, top_level_names
from pytest_kernelbench.catalog.material import (
    SOURCE_LIMIT_BYTES,
    Material,
    materialise,
    readable,
    source_text,
    too_large,
    too_long,
)
from pytest_kernelbench.catalog.naming import parse
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.catalog.sources import columns, tables
from pytest_kernelbench.decoding import decoded
from pytest_kernelbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OWN_LEVEL = 0
"""The level of problems that have none: a file or folder by itself."""
REFERENCE_NAMES = ("reference.py", "model.py", "func_forward.py", "problem.py")
"""Files called so are named after their folder."""
_COLUMNS = ("reference", "code")


def problems_in_table(path: Path, cache: Path, complaints: list[str]) -> Iterator[Problem]:
    """A problem a row, by the columns code, level, name, problem_id or what they are also called.

    A row with a column for the reference is read for that one: archives of solutions have it.
    """
    known: dict[tuple[int, int], str] = {}
    for row in tables.rows(path):
        try:
            found = _row(row)
        except (columns.ColumnError, _RowError) as error:
            complaints.append(f"{path}:{row.number}: {error}; no problem is taken from this row")
            continue
        if found is None:
            continue
        level, number, name, text = found
        if (level, number) in known:
            if known[level, number] != text:
                complaints.append(
                    f"{path}:{row.number}: another problem {level}/{number} than in an earlier "
                    "row; the earlier is taken"
                )
            continue
        known[level, number] = text
        file = f"{number}_{readable(name) if name else 'problem'}.py"
        place = materialise(Material(((file, text),)), cache / "problems", f"level{level}")
        yield Problem(place, level, number, name or f"problem_{number}")


class _RowError(Exception):
    """A row is no problem."""


def _row(row: tables.Row) -> tuple[int, int, str, str] | None:
    """Level, number, name and text; None for a row without any."""
    if row.trouble:
        raise _RowError(row.trouble)
    if not isinstance(row.value, dict):
        message = f"the row is {columns.kind(row.value)}, not an object"
        raise _RowError(message)
    values: Mapping[str, Any] = row.value
    text = next((t for role in _COLUMNS if (t := columns.text_of(values, role))), None)
    if text is None:
        if all(columns.column(values, role) is None for role in _COLUMNS):
            message = f"no column holds a problem's code: it has {', '.join(values)}"
            raise _RowError(message)
        return None
    place = columns.place_of(values, row.key)
    if place.level is None or place.number is None:
        missing = "level" if place.level is None else "problem_id"
        message = f"no column says its {missing}: it has {', '.join(values)}"
        raise _RowError(message)
    if problem := too_long(text) or _no_problem(text):
        raise _RowError(problem)
    return place.level, place.number, place.name, text


def problem_of_file(path: Path, cache: Path, number: int) -> Problem:
    """The problem in a file that somebody named. Raises ``UsageError`` if it holds none.

    It has the level and number that its path says, else level 0 and ``number``.
    """
    text = _text(path)
    of_kernelbot = kernelbot.is_task(text)
    problem = "" if of_kernelbot else _no_problem(text)
    if problem:
        message = f"{path} is no problem: {problem}"
        raise UsageError(message)
    named_by_folder = path.name in REFERENCE_NAMES and path.name != "problem.py"
    place = parse(path.parent.name if named_by_folder else f"{path.parent.name}/{path.name}")
    in_level = place.level is not None and place.number is not None
    name = place.name if in_level or named_by_folder else parse(path.name).name
    if of_kernelbot:
        name = kernelbot.task_name(name)
        files = kernelbot.as_problem(path, text)
    else:
        files = ((path.name, text + _declared_shapes(path, text) + _settings(path)),)
    if files != ((path.name, text),):
        path = materialise(Material(files), cache / "problems", path.parent.name)
    if not in_level:
        return Problem(path, OWN_LEVEL, number, readable(name or path.stem))
    assert place.level is not None
    assert place.number is not None
    return Problem(path, place.level, place.number, name or path.stem)


def task_references(root: Path) -> list[Path]:
    """The references of tasks that lie a folder each in ``root``."""
    return [
        folder / "reference.py"
        for folder in sorted(root.iterdir())
        if folder.name[:1] != "." and (folder / "reference.py").is_file()
    ]


def flat_problems(root: Path) -> list[Problem]:
    """Problems of one folder, whose names say level and number: ``l1_p19.py``."""
    found = []
    for path in sorted(root.glob("*.py")):
        place = parse(path.stem)
        if place.level is None or place.number is None or _no_problem(_text(path)):
            continue
        found.append(
            Problem(path, place.level, place.number, place.name or f"problem_{place.number}")
        )
    return found


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > SOURCE_LIMIT_BYTES:
            message = f"{path} is longer than {SOURCE_LIMIT_BYTES:,} bytes: no problem is"
            raise UsageError(message)
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read as a problem: {error}"
        raise UsageError(message) from error


def _no_problem(text: str) -> str:
    """Why a text is no problem; empty if it looks like one."""
    names = top_level_names(text)
    if names is None:
        return "it is no Python that can be parsed"
    if kernelbot.is_task(text):
        return "a kernelbot's task needs its folder (task.yml): name its reference.py"
    lacking = [name for name in ("Model", "get_inputs") if name not in names]
    if lacking and "get_cases" in names:
        return (
            "its answers are a fixed list (get_cases), which a kernel could know by heart: give it "
            "a Model, which answers any inputs, and get_inputs"
        )
    return f"it defines no {' and no '.join(lacking)}" if lacking else ""


def _declared_shapes(path: Path, text: str) -> str:
    """``SHAPES`` out of a ``shapes.py`` beside the reference, if it is a plain list of values."""
    beside = path.parent / "shapes.py"
    if path.name != "reference.py" or "SHAPES" in (top_level_names(text) or {}):
        return ""
    try:
        body = statements(source_text(beside))
    except OSError:
        return ""
    for statement in body:
        value = _assigned(statement, "SHAPES")
        if value is not None:
            shapes = _literal(value)
            fitting = _by_constants(shapes, top_level_names(text) or {})
            return f"\n\nSHAPES = {fitting!r}\n" if fitting else ""
    return ""


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement assigns to ``name``, if it does."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return statement.value if named else None


def _literal(node: ast.expr) -> list[dict[str, Any]]:
    """A list of mappings in plain values; empty for anything else."""
    try:
        return msgspec.convert(ast.literal_eval(node), list[dict[str, Any]])
    except (ValueError, TypeError, RecursionError, msgspec.ValidationError):
        return []


def _by_constants(shapes: list[dict[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Shapes by the names of the reference's constants, which may be written in other case.

    What names no constant (a flag that the task's own check reads) is left out.
    """
    constants = {name.lower(): name for name, kind in names.items() if kind == "name"}
    found: list[dict[str, Any]] = []
    for shape in shapes:
        fitting = {constants[k.lower()]: v for k, v in shape.items() if k.lower() in constants}
        if fitting and fitting not in found:
            found.append(fitting)
    return found


_APPENDED = """

# What follows was appended by pytest-kernelbench: the settings of {file}, the first as it is and
# the others as other sizes.
KB_INPUT = {input!r}
KB_INIT = {init!r}
SHAPES = {shapes!r}
_kb_get_inputs, _kb_get_init_inputs = get_inputs, get_init_inputs


def get_inputs():
    return list(_kb_get_inputs(**KB_INPUT))


def get_init_inputs():
    return list(_kb_get_init_inputs(**KB_INIT))
"""


def _settings(path: Path) -> str:
    """Arguments of ``get_inputs`` and ``get_init_inputs`` out of a ``config_forward.json``."""
    beside = path.parent / "config_forward.json"
    if path.name != "func_forward.py" or not beside.is_file():
        return ""
    if why := too_large(beside):
        message = f"{beside} is not read: {why}"
        raise UsageError(message)
    try:
        plain = decoded(beside.read_bytes(), dict[str, Any])
        (inputs, init), *others = _combined(plain)
    except (OSError, msgspec.MsgspecError) as error:
        message = f"{beside} cannot be understood: {error}"
        raise UsageError(message) from None
    shapes = [{"KB_INPUT": inputs, "KB_INIT": init} for inputs, init in others]
    return _APPENDED.format(file=beside.name, input=inputs, init=init, shapes=shapes)


def _combined(config: Mapping[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Arguments of ``get_inputs`` and of ``get_init_inputs``, the plain setting first."""

    def settings(name: str, default: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return msgspec.convert(config.get(name, []), list[dict[str, Any]]) or default

    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    single_init = settings("single_init_configs", [{}])
    for group, init_configs in (("single", single_init), ("multi", single_init)):
        for shared in settings(f"{group}_shared_configs", [{}]):
            for init in settings(f"{group}_init_configs", init_configs):
                for inputs in settings(f"{group}_input_configs", [{}]):
                    pair = ({**shared, **inputs}, {**shared, **init})
                    if pair not in found:
                        found.append(pair)
    return found
