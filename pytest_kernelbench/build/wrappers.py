"""Our own ``c++`` and ``nvcc``: scripts, first on the ``PATH`` of builds, that call the driver.

torch calls its compilers by the names in ``CXX`` and ``PYTORCH_NVCC``. The names given there are
bare, so that no folder with a space in it ever reaches a ninja file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.build import standins
from pytest_kernelbench.build.store import disk_errors, write_once

if TYPE_CHECKING:
    from pytest_kernelbench.build.toolchain import Toolchain

CONFIG_FILE = "driver.json"
_BOOT = (
    "import sys; sys.path.append(sys.argv.pop(1));"
    "from pytest_kernelbench.build.driver import main; main()"
)


def prepare_wrappers(root: Path, tools: Toolchain) -> Path:
    """Write the scripts for ``tools`` unless they are there; returns their folder."""
    package = Path(__file__).resolve().parents[1]
    lean = lean_folder(root, tools)
    with disk_errors(root):
        lean.mkdir(parents=True, exist_ok=True)
        os.utime(lean)  # Its last use, for `kb cache prune`.
        able = standins.write_standins(lean, Path(tools.torch_folder) / "include")
    config = {
        "cxx": tools.cxx,
        "nvcc": tools.nvcc,
        "ccache": tools.ccache,
        "torch_folder": tools.torch_folder,
        "lean": str(lean) if able else "",
        "more_includes": tools.more_includes,
        "identity": tools.identity,
        "package": str(package),
        "python": sys.executable,
    }
    name = hashlib.sha256(json.dumps(config).encode()).hexdigest()[:16]
    folder = root / name
    scripts = folder / "bin"
    with disk_errors(root):
        scripts.mkdir(parents=True, exist_ok=True)
        write_once(folder / CONFIG_FILE, json.dumps(config, indent=1))
        imports = _only(package, folder / "imports")
        for tool, path in (("cxx", tools.cxx), ("nvcc", tools.nvcc)):
            if path:
                script = _script(str(imports), folder / CONFIG_FILE, tool)
                write_once(scripts / Path(path).name, script, mode=0o755)
        os.utime(folder)
    return folder


def lean_folder(root: Path, tools: Toolchain) -> Path:
    """Where the stand-ins and precompiled headers for these tools are."""
    return root / f"lean-{tools.identity[:16]}-{standins.FORMAT}"


def _only(package: Path, folder: Path) -> Path:
    """A folder to import ``package`` from and nothing else: its own may be closed to compilers."""
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / package.name).symlink_to(package)
    return folder


def _script(package: str, config: Path, tool: str) -> str:
    words = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, package, str(config), tool]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
