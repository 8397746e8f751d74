"""Lean stand-ins for torch's umbrella headers, made from the installed torch's own text.

``torch/extension.h`` reads some 290,000 lines, most of them for neural network modules, optimisers
and two thousand operators. Kernels use a tensor class, a few factories and macros. Each stand-in
bears the name of an umbrella and includes ``kernelbench/selected.h`` instead, which ``lean.py``
writes for each source from what its text names. The pieces are cut out of the installed headers, so
that they say what this torch says.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.build.lean import SELECTED
from pytest_kernelbench.build.store import write_once

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = 4
FACTORIES_FILE = "factories.json"
INCLUDE = "include"
_UMBRELLAS = (
    "torch/extension.h", "torch/torch.h", "torch/all.h", "torch/types.h", "torch/python.h",
    "torch/utils.h", "torch/cuda.h", "ATen/ATen.h", "ATen/Functions.h",
)  # fmt: skip
_API = Path("torch/csrc/api/include/torch")
_FACTORIES = Path("torch/csrc/autograd/generated/variable_factories.h")
# Headers that others include for old times' sake; whole where ``KERNELBENCH_WHOLE`` says that they
# are used.
_GATES = {
    "ATen/Context.h": "#include <c10/core/Allocator.h>",
    "ATen/TensorUtils.h": "",
    "ATen/DeviceGuard.h": "#include <c10/core/DeviceGuard.h>",
}
_CUDA_LIBRARY = re.compile(r"^.*(#include <cu(?:sparse|blas|blasLt|solver)\w*\.h>|\b\w+Handle_t\b).*$", re.MULTILINE)  # fmt: skip  # noqa: E501
_CUDA_ERRORS = """#include <c10/cuda/CUDAException.h>
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
"""
# torch's scalar types convert to and from thrust's complex numbers: declared here, never defined,
# for the sources that use no complex numbers.
_COMPLEX = """namespace thrust {
template <typename T>
struct complex {
  T parts[2];
  __host__ __device__ complex(const T& real = T(), const T& imag = T()) : parts{real, imag} {}
  template <typename U>
  __host__ __device__ complex(const complex<U>& z) : parts{T(z.parts[0]), T(z.parts[1])} {}
  __host__ __device__ T real() const { return parts[0]; }
  __host__ __device__ T imag() const { return parts[1]; }
};
#define KERNELBENCH_UNARY(NAME) \\
  template <typename T> __host__ __device__ complex<T> NAME(const complex<T>&);
KERNELBENCH_UNARY(exp) KERNELBENCH_UNARY(log) KERNELBENCH_UNARY(log10) KERNELBENCH_UNARY(sqrt)
KERNELBENCH_UNARY(sin) KERNELBENCH_UNARY(cos) KERNELBENCH_UNARY(tan) KERNELBENCH_UNARY(asin)
KERNELBENCH_UNARY(acos) KERNELBENCH_UNARY(atan) KERNELBENCH_UNARY(sinh) KERNELBENCH_UNARY(cosh)
KERNELBENCH_UNARY(tanh) KERNELBENCH_UNARY(asinh) KERNELBENCH_UNARY(acosh) KERNELBENCH_UNARY(atanh)
KERNELBENCH_UNARY(conj) KERNELBENCH_UNARY(proj)
#undef KERNELBENCH_UNARY
template <typename T> __host__ __device__ complex<T> pow(const complex<T>&, const complex<T>&);
template <typename T> __host__ __device__ complex<T> pow(const complex<T>&, const T&);
template <typename T> __host__ __device__ complex<T> pow(const T&, const complex<T>&);
template <typename T> __host__ __device__ complex<T> polar(const T&, const T& = T());
template <typename T> __host__ __device__ T abs(const complex<T>&);
template <typename T> __host__ __device__ T arg(const complex<T>&);
template <typename T> __host__ __device__ T norm(const complex<T>&);
}  // namespace thrust
"""


def write_standins(folder: Path, torch_include: Path) -> bool:
    """Write the stand-ins; False where this torch's headers are laid out differently."""
    try:
        files = dict(_standins(torch_include))
        factories = dict(_factories((torch_include / _FACTORIES).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False
    for name, text in files.items():
        path = folder / INCLUDE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_once(path, text)
    write_once(folder / FACTORIES_FILE, json.dumps(factories, indent=0))
    return bool(factories)


def _standins(torch_include: Path) -> Iterator[tuple[str, str]]:
    for name in _UMBRELLAS:
        yield name, f"#pragma once\n#include <{SELECTED}>\n"
    for name, light in _GATES.items():
        yield name, _gated(name, light, "KERNELBENCH_WHOLE")
    yield "thrust/complex.h", _gated("thrust/complex.h", _COMPLEX, "KERNELBENCH_COMPLEX")
    yield "kernelbench/types.h", _names_of_torch(torch_include / _API / "types.h")
    if not (torch_include / "ATen/cuda/CUDAContextLight.h").is_file():
        return  # A torch for the CPU alone has no headers of CUDA.
    light = (torch_include / "ATen/cuda/CUDAContextLight.h").read_text(encoding="utf-8")
    light = _CUDA_LIBRARY.sub("", light).replace("#pragma once", "")
    yield (
        "ATen/cuda/CUDAContextLight.h",
        _gated("ATen/cuda/CUDAContextLight.h", light, "KERNELBENCH_CUDA_LIBRARIES"),
    )
    yield (
        "ATen/cuda/Exceptions.h",
        _gated("ATen/cuda/Exceptions.h", _CUDA_ERRORS, "KERNELBENCH_CUDA_LIBRARIES"),
    )


def _gated(name: str, light: str, macro: str) -> str:
    return f"#pragma once\n#ifdef {macro}\n#include_next <{name}>\n#else\n{light}\n#endif\n"


def _names_of_torch(types: Path) -> str:
    """``namespace torch { using namespace at; ... }`` without what the header includes."""
    text = types.read_text(encoding="utf-8")
    start, end = text.index("namespace torch {"), text.rindex("} // namespace torch")
    return f"#pragma once\n#include <optional>\n{text[start:end]}}}\n"


def _factories(text: str) -> Iterator[tuple[str, str]]:
    """Each factory of ``namespace torch`` with all its overloads, by name."""
    found: dict[str, list[str]] = {}
    for match in re.finditer(r"^inline at::Tensor (\w+)\((?:.|\n)*?^}", text, re.MULTILINE):
        found.setdefault(match[1], []).append(match[0])
    for name, overloads in found.items():
        yield name, "\n".join(overloads).replace("autograd::make_variable", "kernelbench_variable")
