"""Which compiler, CUDA toolkit, ninja and torch would build here; torch is not imported."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.sandbox.import_paths import import_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

# What else changes the outcome of a compile: searched and read by the compilers themselves.
_COMPILER_VARIABLES = (
    "CC", "CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "CUDA_INC_PATH",
    "CUDNN_HOME", "CUDNN_PATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "THUNDERKITTENS_ROOT",
)  # fmt: skip
_USUAL_CUDA = "/usr/local/cuda"
_USUAL_ARCH = (9, 0)
_ASK_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Toolchain:
    """The tools as absolute paths (empty where there is none), and their versions."""

    cxx: str
    nvcc: str
    ninja: str
    cuda_home: str
    ccache: str
    torch_folder: str
    torch_version: str
    torch_cuda: str
    cxx_version: str
    nvcc_version: str
    arch_list: tuple[str, ...]
    """What nvcc can compile for: ``("7.5", ..., "9.0", ...)``."""
    more_includes: tuple[str, ...]
    """Folders of CUDA headers that pip installed, where the toolkit has only some."""
    variables: tuple[tuple[str, str], ...]

    @property
    def identity(self) -> str:
        """Changes whenever the same source might compile to something else."""
        parts = [
            self.cxx_version,
            self.nvcc_version,
            self.torch_version,
            self.torch_cuda,
            self.torch_folder,
            sysconfig.get_config_var("EXT_SUFFIX"),
            sys.version,
            self.more_includes,
            self.variables,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of ``ninja``, ``c++`` and ``nvcc`` are not here."""
        tools = (("ninja", self.ninja), ("c++", self.cxx), ("nvcc", self.nvcc))
        return tuple(name for name, path in tools if not path)

    def default_arch(self) -> str:
        """What to compile for without a device: the usual one, else the newest nvcc knows."""
        wanted = f"{_USUAL_ARCH[0]}.{_USUAL_ARCH[1]}"
        if not self.arch_list or wanted in self.arch_list:
            return wanted
        return self.arch_list[-1]


def search_path(env: Mapping[str, str]) -> str:
    """``PATH`` for builds: that of the user, after the places where pip puts programs."""
    places = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    ninja = importlib.util.find_spec("ninja")
    if ninja is not None and ninja.origin:
        places.append(str(Path(ninja.origin).parent / "data" / "bin"))
    places.extend(env.get("PATH", os.defpath).split(os.pathsep))
    return os.pathsep.join(dict.fromkeys(place for place in places if place))


def find_toolchain(env: Mapping[str, str]) -> Toolchain:
    """Look around, at a few calls of ``--version``. Raises ``MachineError`` without torch."""
    path = search_path(env)
    cxx = shutil.which(env.get("CXX") or "c++", path=path) or shutil.which("g++", path=path) or ""
    nvcc = _find_nvcc(env, path)
    cuda_home = _cuda_home(env, nvcc)
    folder, version, cuda = _torch()
    return Toolchain(
        cxx=cxx,
        nvcc=nvcc,
        ninja=shutil.which("ninja", path=path) or "",
        cuda_home=cuda_home,
        ccache=shutil.which("ccache", path=path) or "",
        torch_folder=folder,
        torch_version=version,
        torch_cuda=cuda,
        cxx_version=_ask(cxx, "--version"),
        nvcc_version=_ask(nvcc, "--version"),
        arch_list=_arch_list(nvcc),
        more_includes=_more_includes(cuda_home, folder),
        variables=tuple((name, env[name]) for name in _COMPILER_VARIABLES if name in env),
    )


def _find_nvcc(env: Mapping[str, str], path: str) -> str:
    home = env.get("CUDA_HOME") or env.get("CUDA_PATH")
    if env.get("PYTORCH_NVCC"):
        return shutil.which(env["PYTORCH_NVCC"], path=path) or ""
    if home:
        return shutil.which("nvcc", path=os.path.join(home, "bin")) or ""
    return (
        shutil.which("nvcc", path=path)
        or shutil.which("nvcc", path=os.path.join(_USUAL_CUDA, "bin"))
        or ""
    )


def _cuda_home(env: Mapping[str, str], nvcc: str) -> str:
    home = env.get("CUDA_HOME") or env.get("CUDA_PATH")
    if home or not nvcc:
        return home or ""
    # nvcc may be a script or a link far from its toolkit; nvcc itself knows where its own files
    # are.
    plan = _ask(nvcc, "--dryrun", "-x", "cu", "-c", os.devnull, "-o", os.devnull)
    top = re.search(r"^#\$ TOP=(.+)$", plan, re.MULTILINE)
    if top:
        return os.path.realpath(top.group(1).strip())
    return str(Path(nvcc).resolve().parents[1])


def _arch_list(nvcc: str) -> tuple[str, ...]:
    numbers = sorted({int(n) for n in re.findall(r"sm_(\d+)\b", _ask(nvcc, "--list-gpu-code"))})
    return tuple(f"{number // 10}.{number % 10}" for number in numbers)


def _more_includes(cuda_home: str, torch_folder: str) -> tuple[str, ...]:
    """Where torch's CUDA headers find those of cuSPARSE and others that a small toolkit lacks."""
    if not cuda_home or (Path(cuda_home) / "include" / "cusparse.h").exists():
        return ()
    packages = Path(torch_folder).parent / "nvidia"
    found = sorted({path.parent for path in packages.glob("*/include/cu[bs]*.h")})
    return tuple(str(folder) for folder in found)


def _torch() -> tuple[str, str, str]:
    # Not by sys.path as it is: pytest puts the folders of tests there, and a torch.py may lie
    # beside them.
    places = ([path] for path in chain(*import_paths()))
    found = (PathFinder.find_spec("torch", place) for place in places)
    specs = (spec for spec in chain(found, map(importlib.util.find_spec, ["torch"])) if spec)
    # PYTHONPATH may name such a folder too; a file of that name is no torch.
    spec = next((each for each in specs if each.submodule_search_locations), None)
    if spec is None or not spec.origin:
        message = f"torch is not installed for {sys.executable}: pip install torch"
        raise MachineError(message)
    folder = Path(spec.origin).parent
    text = (folder / "version.py").read_text(encoding="utf-8")
    version = re.search(r"^__version__[^=]*= *['\"]([^'\"]+)", text, re.MULTILINE)
    cuda = re.search(r"^cuda[^=]*= *['\"]([^'\"]+)", text, re.MULTILINE)
    git = re.search(r"^git_version[^=]*= *['\"]([^'\"]+)", text, re.MULTILINE)
    named = "+".join(found.group(1) for found in (version, git) if found)
    return str(folder), named, cuda.group(1) if cuda else ""


def _ask(program: str, *arguments: str) -> str:
    if not program:
        return ""
    try:
        answer = subprocess.run(
            [program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=_ASK_TIMEOUT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
