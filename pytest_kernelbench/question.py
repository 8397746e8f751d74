"""What a program asks: a problem, a solution, and whether they, or its settings, can be any."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import get_args, get_origin, get_type_hints

from pytest_kernelbench.catalog.material import Material, too_large, too_long
from pytest_kernelbench.catalog.pair import Problem
from pytest_kernelbench.errors import UsageError
from pytest_kernelbench.settings import Settings

_FILE_NAME = re.compile(r"\s*\S+\.py\s*")


@dataclass(frozen=True)
class Question:
    """One pair to be judged."""

    problem: Problem | Path | str
    """A problem, its file, ``"1/19"`` of the problem roots, or the source itself."""
    solution: Path | str | Material
    """A file, or the source itself; of several files as ``Material``, its first ``solution.py``."""
    entry: str = "ModelNew"
    entrant: str = "library"
    sample: int = 0
    key: object = None
    """Yours: it comes back with the verdict."""


def check_types(question: Question) -> None:
    """Raise ``UsageError`` where the program that asks has put something else in its place."""
    if not isinstance(question, Question):
        message = f"a question is a Question, not {_kind(question)}"
        raise UsageError(message)
    if not isinstance(question.problem, (Problem, Path, str)):
        message = f"a problem is a str, a Path or a Problem, not {_kind(question.problem)}"
        raise UsageError(message)
    given = question.solution
    if not isinstance(given, (Path, str, Material)):
        message = f"a solution is a str, a Path or a Material, not {_kind(given)}"
        raise UsageError(message)
    files = given.files if isinstance(given, Material) else (("solution.py", ""),)
    if not files or not all(isinstance(part, str) for file in files for part in file):
        message = "the files of a Material are pairs of a name and a text, both str; one at least"
        raise UsageError(message)
    if not isinstance(question.entry, str) or not question.entry.isidentifier():
        message = f"an entry is the name of a class, not {question.entry!r}"
        raise UsageError(message)
    if not isinstance(question.entrant, str):
        message = f"an entrant is a str, not {_kind(question.entrant)}"
        raise UsageError(message)
    if not _is_a(question.sample, int):
        message = f"a sample is an int, not {_kind(question.sample)}"
        raise UsageError(message)


def check_settings(settings: Settings) -> None:
    """Raise ``UsageError`` where a field holds what its annotation does not allow.

    What the values mean is for ``options.check_values`` to say, which reads them as texts.
    """
    if not isinstance(settings, Settings):
        message = f"settings are a Settings, not {_kind(settings)}"
        raise UsageError(message)
    allowed = get_type_hints(Settings)
    for field in fields(Settings):
        value = getattr(settings, field.name)
        if not _is_a(value, allowed[field.name]):
            message = f"{field.name}: {value!r} is no {field.type}"
            raise UsageError(message)


def _is_a(value: object, kind: object) -> bool:
    """As ``isinstance``, also for the annotations that ``Settings`` has."""
    parts = get_args(kind)
    if get_origin(kind) is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else list(parts)
        return len(value) == len(kinds) and all(map(_is_a, value, kinds))
    if parts:  # X | None
        return any(_is_a(value, part) for part in parts)
    if isinstance(value, bool):
        return kind is bool  # to Python, True is a 1
    if kind is float:
        return isinstance(value, (int, float))
    return isinstance(value, NoneType if kind is None else kind)  # type: ignore[arg-type]


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


def no_source(solution: Path | str | Material) -> str:
    """Why it is not even tried to build this; empty if it is."""
    if isinstance(solution, Path):
        return too_large(solution)
    if isinstance(solution, str):
        if names_a_file(solution):
            return f"its source is a name, {solution.strip()!r}; a file is given as a Path"
        return too_long(solution)
    return next(filter(None, (too_long(text) for _, text in solution.files)), "")


def names_a_file(source: str) -> bool:
    """Whether a text is the name of a file, where a source is due."""
    return _FILE_NAME.fullmatch(source) is not None
