"""A look into files of any name: are they solutions? Nothing is imported or executed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_kernelbench.catalog.answers import has_fence
from pytest_kernelbench.catalog.belongings import belongs_to_a_solution, lies_by_a_solution
from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.entry import cpp_entry, popcorn, python_entry
from pytest_kernelbench.catalog.files import CPP_SUFFIXES, LOOKED_INTO, in_task
from pytest_kernelbench.catalog.material import SOURCE_LIMIT_BYTES, Material, too_large
from pytest_kernelbench.catalog.naming import level_of, parse
from pytest_kernelbench.catalog.sources.packed import claim_packed, is_packed
from pytest_kernelbench.catalog.sources.text import claim_text, entered
from pytest_kernelbench.folders import read_file

_HASH_NAME = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_NO_ANSWER = re.compile(
    r"readme|license|changelog|contributing|(.*_)?prompt|task|notes?|requirements", re.IGNORECASE
)
_NO_SOLUTION = re.compile(r"test_.*|.*_test|conftest|__init__|setup", re.IGNORECASE)
_NO_NAMES = frozenset({"solution", "kernel", "submission", "candidate", "model_new"})
_SPEAKS = re.compile(
    rb"^[ \t]*(?:class[ \t]+)?ModelNew\b"
    rb"|^def[ \t]+(?:custom_kernel|run|forward|solution|\w+_kernel_impl)[ \t]*\(",
    re.MULTILINE,
)
_IMPORT, _MODEL_NEW = re.compile(rb"\bimport\b"), re.compile(rb"\bModelNew\b")


def look_inside(path: Path, *, named: bool = False) -> Claim | None:  # noqa: PLR0911 - one a kind
    """Any other file that can be entered: a solution, by whatever name.

    ``named`` says that somebody named the file or its folder: then text without code is an answer.
    """
    if path.suffix not in LOOKED_INTO or in_task(path):
        return None
    if why := too_large(path):
        # Nobody looks into it; whoever named it is told.
        return replace(_named(path, "source"), refusal=why) if named else None
    if path.suffix == ".py":
        return _python(path)
    if path.suffix == ".json":
        return _json(path)
    if path.suffix == ".toml":
        return _kit(path)
    if path.suffix in CPP_SUFFIXES:
        return _cpp(path)
    if _NO_ANSWER.fullmatch(path.stem):
        return None
    if path.name.endswith(".solution.py.txt"):
        return _public_copy(path)
    return _answer(path, named=named)


def _python(path: Path) -> Claim | None:
    if _NO_SOLUTION.fullmatch(path.stem):
        return None
    data = _read(path)
    if not _SPEAKS.search(data) and not _imports_model(data):
        return None
    entry = python_entry(data.decode("utf-8", "replace"))
    if entry is None:
        return None
    if entry.name != "ModelNew" and not entry.task and _is_a_part(path):
        return None  # Helpers have functions called run or forward, too.
    return entered(_named(path, "Python source"), entry, None)


def _imports_model(data: bytes) -> bool:
    """Whether some line imports something and then names ``ModelNew``."""
    for line in data.split(b"\n") if b"ModelNew" in data else ():
        found = _IMPORT.search(line)
        if found and _MODEL_NEW.search(line, found.end()):
            return True
    return False


def _cpp(path: Path) -> Claim | None:
    """A source that somebody's Python compiles is no solution by itself."""
    text = _read(path).decode("utf-8", "replace")
    if "PYBIND11_MODULE" not in text and not popcorn(text):
        return None
    if _beside_a_solution(path):
        return None
    base = _named(path, "C++ source")
    if base.number is None and _binds_others(text) and lies_by_a_solution(path):
        return None  # Nobody's answer: that solution may find it in some way of its own.
    return claim_text(text, base, path.stem, suffix=path.suffix)


def _binds_others(text: str) -> bool:
    """Whether it is C++ for Python to call, but not as a solution is called."""
    entry = cpp_entry(text) if "PYBIND11_MODULE" in text else None
    return entry is not None and bool(entry.refusal) and not entry.task


def _answer(path: Path, *, named: bool) -> Claim | None:
    text = _read(path).decode("utf-8", "replace")
    if not named and not has_fence(text) and "ModelNew" not in text:
        return None
    return claim_text(text, _named(path, "answer"), path.stem, suffix=path.suffix)


def _public_copy(path: Path) -> Claim | None:
    """``<task>.solution.py.txt``: a solution under a name that web servers show."""
    text = _read(path).decode("utf-8", "replace")
    entry = python_entry(text, model=True)
    place = parse(path.name.removesuffix(".solution.py.txt"))
    base = Claim(
        path.parent.name, place.level, place.number, place.name, format="public copy of a solution"
    )
    return None if entry is None else entered(base, entry, Material((("solution.py", text),)))


def _json(path: Path) -> Claim | None:
    data = _read(path)
    if b'"sources"' not in data:
        return None
    import msgspec

    from pytest_kernelbench.decoding import decoded

    try:
        value: Any = decoded(data, object)
    except msgspec.MsgspecError:
        return None
    return claim_packed(value, _named(path, "JSON")) if is_packed(value) else None


def _kit(path: Path) -> Claim | None:
    if path.name != "config.toml":
        return None
    from pytest_kernelbench.catalog.sources.kit import claim_kit

    return claim_kit(path, Claim(path.parent.name, format="starter kit"))


def _named(path: Path, form: str) -> Claim:
    """What the name of a file says that no layout knows."""
    if _HASH_NAME.fullmatch(path.stem):
        return Claim(path.parent.name, format=form, folder_wide=True)
    place = parse(path.stem)
    name = "" if place.name in _NO_NAMES else place.name
    level = place.level if place.level is not None else level_of(path.parent.name)
    return Claim(path.parent.name, level, place.number, name, place.sample or 0, format=form)


def _beside_a_solution(path: Path) -> bool:
    """Whether a folder's ``solution.py`` or ``model_new.py`` will bring this file along."""
    folders = list(path.parents)[:2]
    return any(
        (folder / name).is_file() and folder / name != path
        for folder in folders
        for name in ("solution.py", "model_new.py")
    )


def _is_a_part(path: Path) -> bool:
    return _beside_a_solution(path) or belongs_to_a_solution(path)


def _read(path: Path) -> bytes:
    try:
        return read_file(path, SOURCE_LIMIT_BYTES)
    except OSError:
        # Unreadable: whoever builds it will say why.
        return b""
