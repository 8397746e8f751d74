"""The environment of a build child: what compilers need, a private home, and no device."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from pytest_kernelbench.build.driver import WORK_VARIABLE
from pytest_kernelbench.build.toolchain import search_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

from pytest_kernelbench.build.toolchain import Toolchain

_PASSED_ON = (
    "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CC", "TZ",
    "CUDNN_HOME", "CUDNN_PATH", "CUDA_INC_PATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",
    "THUNDERKITTENS_ROOT", "CUTLASS_PATH", "CUTLASS_HOME", "CONDA_PREFIX", "VIRTUAL_ENV",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip


def base_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What compilers need of the user's environment, and nothing else of it."""
    return {
        **{name: env[name] for name in _PASSED_ON if name in env},
        "PATH": search_path(env),
        "LC_ALL": "C.UTF-8",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
    }


def child_environment(
    env: Mapping[str, str], work: Path, passed: Mapping[str, str], jobs: int
) -> dict[str, str]:
    """All that the child and its compilers see; ``jobs`` bounds the compilers at a time."""
    private = {
        name: str(work / folder)
        for name, folder in (
            ("HOME", "home"),
            ("TMPDIR", "tmp"),
            ("TORCH_EXTENSIONS_DIR", "torch_extensions"),
            ("TRITON_CACHE_DIR", "triton"),
            ("XDG_CACHE_HOME", "home/cache"),
        )
    }
    for folder in private.values():
        os.makedirs(folder, exist_ok=True)
    return {
        **base_environment(env),
        **private,
        **passed,
        "PATH": f"{passed['PATH']}{os.pathsep}{search_path(env)}",
        WORK_VARIABLE: str(work),
        "MAX_JOBS": str(jobs),
        "PYTHONDONTWRITEBYTECODE": "1",
        # torch would put ccache before our compiler; ours calls it itself.
        "TORCH_NO_COMPILER_WRAPPER": "1",
    }


def ccache_environment(root: Path, solution: Path, work: Path) -> dict[str, str]:
    """A compiler cache of the solution's own.

    Its builds write to it, and they run its code: what one puts there (objects, pipes, settings)
    would be met by every other that uses the same one.
    """
    folder = root / hashlib.sha256(os.fsencode(solution)).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    return {
        "CCACHE_DIR": str(folder),
        # In place of ccache.conf in that folder, where an earlier source may have left commands.
        "CCACHE_CONFIGPATH": os.devnull,
        "CCACHE_MAXSIZE": "200M",
        # Work folders have random names; what is below them is the same again.
        "CCACHE_BASEDIR": str(work),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
    }


def passed_on(tools: Toolchain, wrappers: Path, arch: str) -> dict[str, str]:
    """What a contender needs for calls that the build never saw; ``PATH`` goes in front."""
    places = [str(wrappers / "bin")]
    if tools.ninja:
        places.append(os.path.dirname(tools.ninja))
    values = {
        "PATH": os.pathsep.join(places),
        "TORCH_CUDA_ARCH_LIST": arch,
        "CUDA_HOME": tools.cuda_home,
        "CXX": os.path.basename(tools.cxx),
        "PYTORCH_NVCC": os.path.basename(tools.nvcc),
    }
    return {name: value for name, value in values.items() if value}
