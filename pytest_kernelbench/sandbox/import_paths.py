"""Where a process of ours that starts from nothing (``python -I``) finds packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

BOOT = """
import sys, json
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
first, last, entry, *arguments = json.loads(sys.argv[1])
sys.path[:0] = first
sys.path += [path for path in last if path not in sys.path]
spec = PathFinder.find_spec("pytest_kernelbench", last[-1:])
sys.modules[spec.name] = package = module_from_spec(spec)
spec.loader.exec_module(package)
module, _, function = entry.partition(":")
getattr(import_module(module), function)(*arguments)
"""
"""What each such process runs: all of them find the same packages, in the order Python would.

Our own is loaded from where the parent has it: another copy may be installed beside a source tree.
"""


def boot(entry: str, *arguments: object) -> list[str]:
    """The interpreter's arguments to call ``entry`` (``module:function``) with plain values."""
    return ["-I", "-c", BOOT, json.dumps([*import_paths(), entry, *arguments])]


def is_found(package: str) -> bool:
    """Whether such a process finds this top-level package or module; nothing of it is imported."""
    command = [sys.executable, *boot(f"{__name__}:leave_unless_found", package)]
    return not subprocess.run(command, check=False, timeout=60).returncode


def leave_unless_found(package: str) -> None:
    """Run in such a process: exit with 1 if it does not find the package."""
    raise SystemExit(find_spec(package) is None)


def import_paths() -> tuple[list[str], list[str]]:
    """First what ``PYTHONPATH`` names, then site-packages, and last our own package.

    Folders that pytest itself put in front of ``sys.path`` are left out: a ``torch.py`` beside a
    solution must not be taken for torch.
    """
    wanted = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    site = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    package = str(Path(__file__).resolve().parents[2])
    return [os.path.abspath(path) for path in wanted], [*site, package]
