"""Files that other tools and people leave, known by their names alone."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.layouts import EntrantTree
from pytest_kernelbench.catalog.naming import level_of, parse
from pytest_kernelbench.catalog.problems import LEVEL_FOLDER

CPP_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx")
TEXT_SUFFIXES = (*CPP_SUFFIXES, ".md", ".txt")
LOOKED_INTO = frozenset({".py", ".json", ".toml", *TEXT_SUFFIXES})
"""Suffixes of files that may be solutions under any name."""
REFERENCES = ("reference.py", "func_forward.py", "model.py")
# As texts: re compiles them when they are first used, which in most runs is never.
_NUMBERED_TEXT = r"[0-9]+_.+\.(?:cu|cpp|cc|cxx|md|txt)"
_RUN_TEXT = r"level_[0-9]+_problem_[0-9]+_sample_[0-9]+(?:_[a-z]+)?\.(?:cu|cpp|md|txt)"
_PROBLEM_FILE = r"problem_([0-9]+)(?:_sample_([0-9]+))?_kernel\.py"
_OPERATOR_FILE = r"(.+__.+)_implementation_v[0-9]+\.py"
_TASKS = {"solution.py": "reference.py", "candidate.py": "reference.py", "model_new.py": "model.py"}
"""What a folder's solution and its reference are called: nothing else in it is collected."""


def problem_run(path: Path) -> Claim | None:
    """``<run>_level2_.../problem_P_kernel.py``: the level is the folder's."""
    if not path.name.startswith("problem_"):
        return None
    match = re.fullmatch(_PROBLEM_FILE, path.name)
    if match is None:
        return None
    return Claim(
        path.parent.name,
        level_of(path.parent.name),
        int(match[1]),
        sample=int(match[2] or 0),
        format="run of one level",
        folder_wide=True,
    )


def in_task(path: Path) -> bool:
    """Whether a file lies in a folder of a task, of which only the solution is collected."""
    return any(
        (folder / name).is_file() and (folder / reference).is_file()
        for folder in list(path.parents)[:2]
        for name, reference in _TASKS.items()
    )


def task_folder(path: Path) -> Claim | None:
    """A folder a task or attempt: only ``solution.py`` or the like in it is collected."""
    reference = _TASKS.get(path.name)
    if reference is None or not (path.parent / reference).is_file():
        return None
    place = parse(path.parent.name)
    return Claim(
        path.parent.parent.name if place.name else path.parent.name,
        place.level,
        place.number if place.level is not None else None,
        place.name,
        place.sample or 0,
        format="folder of a task",
    )


def operator_file(path: Path) -> Claim | None:
    """``<op>__<overload>/<op>__<overload>_implementation_v1.py``: another benchmark's."""
    if "__" not in path.parent.name:
        return None
    match = re.fullmatch(_OPERATOR_FILE, path.name)
    if match is None or match[1] != path.parent.name:
        return None
    why = (
        f"replaces the operator {match[1].replace('__', '.')} (BackendBench): not a KernelBench "
        "solution; give it a class ModelNew and a problem"
    )
    return Claim(path.parent.parent.name, name=match[1], format="BackendBench", refusal=why)


class FolderSolution(EntrantTree):
    """``levelN/NNN_name/solution.py`` with other sources beside it; the folder bears the name."""

    def __call__(self, path: Path) -> Claim | None:
        """See ``Adapter``."""
        if path.name not in ("solution.py", "model_new.py"):
            return None
        folder = path.parent
        inside = LEVEL_FOLDER.fullmatch(folder.parent.name)
        place = parse(f"{folder.parent.name}/{folder.name}" if inside else folder.name)
        if place.level is None or place.number is None:
            return None
        home = folder.parent.parent if inside else folder.parent
        entrant = self._entrant(home)
        sample = place.sample or 0
        return Claim(entrant, place.level, place.number, place.name, sample, format="folder")


class TextByName(EntrantTree):
    """Answers and C++ called as solutions in Python are: ``level1/019_relu.md``."""

    def __call__(self, path: Path) -> Claim | None:
        """See ``Adapter``."""
        if path.suffix not in TEXT_SUFFIXES or "prompt" in path.name:
            return None
        run = path.name.startswith("level_") and re.fullmatch(_RUN_TEXT, path.name)
        in_level = LEVEL_FOLDER.fullmatch(path.parent.name)
        if not run and not (in_level and re.fullmatch(_NUMBERED_TEXT, path.name)):
            return None
        place = parse(path.stem if run else f"{path.parent.name}/{path.stem}")
        return Claim(
            path.parent.name if run else self._entrant(path.parent.parent),
            place.level,
            place.number,
            place.name,
            place.sample or 0,
            format="C++ source" if path.suffix in CPP_SUFFIXES else "answer",
            adapter="text",
        )


BY_NAME = (problem_run, task_folder, operator_file)
