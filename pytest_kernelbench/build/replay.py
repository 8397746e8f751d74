"""In the contender: answer ``load`` and ``load_inline`` from what was built, compiling nothing.

Imports the standard library alone, and torch only when called, so that a contender needs no other
module of the package. ``install(folder)`` puts the stand-ins in place; a call that the build never
saw falls through to the real function, and a call that failed there fails here in the same words.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS = ("load", "load_inline")
# Where it is built, how much is printed and how quickly: none of it changes what is built.
_NO_MATTER = frozenset({"verbose", "build_directory", "keep_intermediates", "use_pch"})
_CHUNK_BYTES = 1 << 20


def install(folder: Path) -> None:
    """Replace ``load`` and ``load_inline`` by lookups in ``folder/manifest.json``."""
    from torch.utils import cpp_extension

    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    _set_environment(manifest.get("environment", {}))
    for function in FUNCTIONS:
        real = getattr(cpp_extension, function)
        setattr(cpp_extension, function, _stand_in(real, folder, manifest["calls"]))


def _set_environment(values: dict[str, str]) -> None:
    """So that a call which the build never saw is built by the same tools."""
    path = values.get("PATH", "")
    for name, value in values.items():
        os.environ.setdefault(name, value)
    if path not in os.environ["PATH"]:
        os.environ["PATH"] = f"{path}{os.pathsep}{os.environ['PATH']}"


def _stand_in(
    real: Callable[..., Any], folder: Path, calls: dict[str, dict[str, Any]]
) -> Callable[..., Any]:
    @functools.wraps(real)
    def from_build(*args: Any, **kwargs: Any) -> Any:
        call = calls.get(call_key(real, args, kwargs, caller_folder(sys._getframe(1))))
        if call is None:
            return real(*args, **kwargs)
        if call["error"]:
            raise RuntimeError(call["error"])
        return load_library(call["name"], folder / call["library"], call["kind"])

    return from_build


def load_library(name: str, library: Path, kind: str) -> Any:
    """What torch's functions return: a module; a path for ``operators`` and ``program``."""
    if kind == "program":
        return str(library)
    if kind == "operators":
        import torch

        torch.ops.load_library(str(library))
        return str(library)
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    if spec is None:
        message = f"{library} cannot be imported as {name}"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def caller_folder(frame: Any) -> str:
    """The folder of the file whose code called, so that keys do not depend on where it lies."""
    file = frame.f_globals.get("__file__")
    return os.path.dirname(os.path.abspath(file)) if file else ""


def call_key(real: Callable[..., Any], args: Any, kwargs: Any, folder: str) -> str:
    """A hash of what a call builds: the same in the build and in the contender."""
    try:
        bound = inspect.signature(real).bind(*args, **kwargs)
    except TypeError:
        return ""  # The real function says what is wrong with the arguments.
    bound.apply_defaults()
    shown = {
        name: _canonical(value, folder)
        for name, value in sorted(bound.arguments.items())
        if name not in _NO_MATTER
    }
    if real.__name__ == "load":
        shown["sources"] = _contents(bound.arguments.get("sources", ()), folder)
    text = json.dumps([real.__name__, shown], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any, folder: str) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        for place, word in ((folder, "<folder>"), (os.getcwd(), "<cwd>")):
            if len(place) > 1:
                value = value.replace(place, word)
        return value
    if isinstance(value, dict):
        return [[_canonical(k, folder), _canonical(v, folder)] for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [_canonical(item, folder) for item in value]
    return repr(type(value))


def _contents(sources: Any, folder: str) -> list[list[str]]:
    paths = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    return [[os.path.basename(path), file_hash(_found(path, folder))] for path in paths]


def _found(path: str | os.PathLike[str], folder: str) -> str | os.PathLike[str]:
    """In a build the current folder has what lies beside the solution, in a contender not."""
    return path if os.path.exists(path) else os.path.join(folder, path)


def file_hash(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's bytes; empty where it cannot be read."""
    if not os.path.isfile(path):  # a pipe in its place would be waited for
        return ""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError:
        return ""
    return digest.hexdigest()
