"""Compile ``protocol.cu`` for a device with the NVRTC library that torch brings along."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import lru_cache
from pathlib import Path

from pytest_kernelbench.errors import MachineError

SOURCE = Path(__file__).parent / "inside" / "protocol.cu"


@lru_cache(maxsize=4)
def protocol_cubin(capability: str) -> bytes:
    """Machine code for compute capability ``"9.0"``. Raises ``MachineError`` without NVRTC."""
    nvrtc = _library()
    program = ctypes.c_void_p()
    source = SOURCE.read_bytes()
    _check(
        nvrtc,
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"protocol.cu", 0, None, None),
    )
    architecture = f"--gpu-architecture=sm_{capability.replace('.', '')}".encode()
    options = (ctypes.c_char_p * 2)(architecture, b"--std=c++17")
    result = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if result:
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise MachineError(
            f"NVRTC cannot compile the judge's own kernels for compute capability {capability}: "
            f"{log.value.decode(errors='replace')}"
        )
    size = ctypes.c_size_t()
    _check(nvrtc, nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    cubin = ctypes.create_string_buffer(size.value)
    _check(nvrtc, nvrtc.nvrtcGetCUBIN(program, cubin))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


def _check(nvrtc: ctypes.CDLL, result: int) -> None:
    if result:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        said = nvrtc.nvrtcGetErrorString(result).decode()
        raise MachineError(f"NVRTC failed: {said}")


def _library() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            # NVRTC opens its builtins by name alone; they lie beside it, where the loader does not
            # look.
            for builtins in sorted(path.parent.glob("libnvrtc-builtins.so.*")):
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(path))
        except OSError as error:
            tried.append(f"{path}: {error}")
    raise MachineError(
        "the NVRTC library (libnvrtc.so), which CUDA builds of torch bring along, was not found; "
        f"tried {'; '.join(tried) or 'no file'}. Install nvidia-cuda-nvrtc or set CUDA_HOME."
    )


def _candidates() -> list[Path]:
    found: list[Path] = []
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.origin is not None:
        packages = Path(spec.origin).parents[1]
        found += sorted(packages.glob("nvidia/*/lib/libnvrtc.so.*"), reverse=True)
        found += sorted(Path(spec.origin).parent.glob("lib/libnvrtc*.so*"))
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            found += sorted(Path(home).glob("lib64/libnvrtc.so*"), reverse=True)
    return [path for path in found if "builtins" not in path.name and "alt" not in path.name]
