"""Which compiled code of a process is a solution's own: that which no installed package brought."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAPS = Path("/proc/self/maps")
_PATH_FIELD = 5
_LEAST_FIELDS = 6
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/")
_COMPILERS = ("llvmlite", "tilelang", "tvm", "taichi")
"""Packages that turn a solution's Python into machine code which no file holds."""


def own_code() -> tuple[str, ...]:
    """Files of compiled code of the solution's, and packages that compile its Python in memory."""
    ours = _library_folders()
    inductor = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")
    found: set[str] = set()
    for path in _executable_files():
        compiler = next((name for name in _COMPILERS if f"/{name}" in path), "")
        if compiler:
            found.add(compiler)
        elif "torchinductor" in path or (inductor and path.startswith(inductor)):
            continue  # made by torch.compile
        elif not path.startswith(ours):
            found.add(path)
    return tuple(sorted(found))


def modules_of(files: tuple[str, ...]) -> frozenset[str]:
    """The names that extension modules in ``files`` have: what stands before the first dot."""
    return frozenset(Path(file).name.partition(".")[0] for file in files)


def module_of(function: Any) -> str:
    """The root of the module that a compiled function says it belongs to, or empty."""
    module = getattr(function, "__module__", None)
    if type(module) is not str:
        # A method of a compiled class says it through the class.
        owner = getattr(function, "__self__", None)
        module = getattr(type(owner), "__module__", None)
    return module.partition(".")[0] if type(module) is str else ""


def _executable_files() -> Iterator[str]:
    """Files mapped to be executed, each once."""
    seen: set[str] = set()
    with _MAPS.open(encoding="utf-8", errors="replace") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, _PATH_FIELD)
            if len(fields) < _LEAST_FIELDS or "x" not in fields[1]:
                continue
            path = fields[_PATH_FIELD].removesuffix(" (deleted)")
            if path.startswith("/") and path not in seen:
                seen.add(path)
                yield path


def _library_folders() -> tuple[str, ...]:
    """Where Python, its packages and the system's libraries lie; paths as the kernel tells them."""
    site = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    beside_torch = str(Path(torch.__file__).parents[1])
    folders = {*site, beside_torch, sys.prefix, sys.base_prefix, sys.exec_prefix}
    real = {os.path.realpath(folder) for folder in folders}
    return (*_SYSTEM, *(folder.rstrip(os.sep) + os.sep for folder in folders | real))
