"""Which parts of torch's headers one source needs, found in its text: the quick way to compile it.

Nothing depends on the scan being right: what is missing is a compile error, and then the plain
command runs.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SELECTED = "kernelbench/selected.h"
BINDING_HEADER = "torch/extension.h"
SOURCE_ENDINGS = (".cpp", ".cc", ".cxx", ".c++", ".cu")
_MOST_FILES = 100
_MOST_CHARACTERS = 2_000_000

_USES_TORCH = re.compile(r"#\s*include\s*[<\"](?:torch|ATen|c10)/")
# Parts of torch that the lean headers do not have: no use in trying.
_TOO_MUCH = re.compile(
    r"torch\s*::\s*(?:nn|optim|jit|autograd|data|serialize|python|distributed|profiler|mps|xpu|nested"
    r"|fft|linalg|special|sparse|save|load|pickle_\w+|manual_seed|set_num_threads|k(?:Sum|Mean|Reflect)\w*)\b"
    r"|#\s*include\s*[<\"](?:torch/(?:script|nn|optim|jit|data|serialize|autograd)|ATen/native)"
    r"|\bTHP\w+|\bat\s*::\s*native\b"
)
_NAMESPACE = re.compile(r"\busing\s+namespace\s+(?:torch|at)\s*;")
_QUALIFIED = re.compile(r"\b(?:torch|at)\s*::\s*(\w+)")
_CALLED = re.compile(r"\b(\w+)\s*\(")
_WHOLE = re.compile(
    r"globalContext|at\s*::\s*Context|\bhas(?:CUDA|MKL)\b|Generator|TensorArg|CheckedFrom|checkDim"
    r"|checkSame|device_of|ITensorListRef|ATen/(?:Context|TensorUtils|DeviceGuard|cuda/CUDAGen)"
)
_CUDA_LIBRARIES = re.compile(r"(?i)cublas|cusparse|cusolver|cudnn|nvrtc|AT_CUDA_DRIVER|Handle\(")
_COMPLEX = re.compile(r"(?i)complex|thrust|\bcub\b|cuda/std|cutlass|cute/")
# What a word in the text asks for, beside operators and factories.
_ON_DEMAND = (
    (re.compile(r"AT_DISPATCH|AT_PRIVATE"), "ATen/Dispatch.h"),
    (re.compile(r"AT_DISPATCH_V2"), "ATen/Dispatch_v2.h"),
    (re.compile(r"parallel_for|parallel_reduce|num_threads"), "ATen/Parallel.h"),
    (re.compile(r"scalar_to_tensor"), "ATen/ScalarOps.h"),
    (re.compile(r"indexing|\bSlice\b|\bindex(?:_put_)?\s*\("), "ATen/TensorIndexing.h"),
    (re.compile(r"infer_size|expand_(?:in|out)place"), "ATen/ExpandUtils.h"),
    (re.compile(r"TORCH_LIBRARY|torch\s*::\s*Library"), "torch/library.h"),
    (re.compile(r"IValue|c10\s*::\s*(?:List|Dict)\b"), "ATen/core/ivalue.h"),
    (re.compile(r"InferenceMode"), "c10/core/InferenceMode.h"),
    (re.compile(r"torch\s*::\s*cuda\s*::"), "torch/csrc/api/include/torch/cuda.h"),
)
_BINDING = re.compile(r"PYBIND11_|\bpy(?:bind11)?\s*::|wrap_pybind_function")
_BINDING_HEADERS = ("torch/csrc/utils/pybind.h", "torch/csrc/Exceptions.h")
_ALWAYS = (
    "ATen/core/Tensor.h",
    "ATen/TensorOperators.h",
    "ATen/core/grad_mode.h",
    "ATen/core/LegacyTypeDispatch.h",
    "ATen/Formatting.h",
)
_FOR_FACTORIES = ("ATen/TracerMode.h", "ATen/core/LegacyTypeDispatch.h")
_LITERALS = "torch/csrc/api/include/torch/detail/TensorDataContainer.h"
_DELETER = "using Deleter = std::function<void(void*)>;"
_VARIABLE = """#ifndef KERNELBENCH_VARIABLE
#define KERNELBENCH_VARIABLE
inline at::Tensor kernelbench_variable(at::Tensor made, bool requires_grad) {
  if (requires_grad) made.set_requires_grad(true);
  return made;
}
#endif
"""


def worth_trying(text: str) -> bool:
    """Whether ``text`` includes torch's headers, and nothing that the lean ones surely lack."""
    return bool(_USES_TORCH.search(text)) and not _TOO_MUCH.search(text)


def selected_header(text: str, read: Callable[[str], str], factories: dict[str, str]) -> str:
    """The text of ``kernelbench/selected.h`` for a source; ``read`` gives torch's own headers."""
    made = sorted(_named(text) & factories.keys())
    operators = operator_headers(text, read)
    lines = ["#pragma once", *macros(text)]
    lines += [f"#include <{name}>" for name in (*_ALWAYS, *operators, *_demanded(text, read))]
    lines.append("#include <kernelbench/types.h>")
    if made:
        lines += [f"#include <{name}>" for name in _FOR_FACTORIES]
        if "tensor" in made:
            lines.append(f"#include <{_LITERALS}>")
        lines += ["#include <functional>", "namespace torch {", _VARIABLE, _DELETER]
        lines += [factories[name] for name in made]
        lines.append("}")
    if _BINDING.search(text):
        lines += [f"#include <{name}>" for name in _BINDING_HEADERS]
    return "\n".join(lines) + "\n"


def macros(text: str) -> list[str]:
    """What opens the gates of the stand-ins."""
    found = ["#define AT_PER_OPERATOR_HEADERS"]
    if _WHOLE.search(text):
        found.append("#define KERNELBENCH_WHOLE")
    if _COMPLEX.search(text):
        found.append("#define KERNELBENCH_COMPLEX")
    if _CUDA_LIBRARIES.search(text):
        found.append("#define KERNELBENCH_CUDA_LIBRARIES")
    return found


def operator_headers(text: str, read: Callable[[str], str]) -> list[str]:
    """``ATen/ops/NAME.h`` for each operator that ``text`` calls by name."""
    stems = {re.sub(r"(?:_outf?|_)$", "", name) for name in _named(text)} | _named(text)
    texts = {f"ATen/ops/{stem}.h": read(f"ATen/ops/{stem}.h") for stem in sorted(stems)}
    lists = any("ITensorListRef" in text for text in texts.values())
    found = [header for header, text in texts.items() if text]
    return ["ATen/core/IListRef.h", *found] if lists else found


def _named(text: str) -> set[str]:
    names = set(_QUALIFIED.findall(text))
    if _NAMESPACE.search(text):
        names.update(_CALLED.findall(text))
    return names


def _demanded(text: str, read: Callable[[str], str]) -> list[str]:
    return [header for word, header in _ON_DEMAND if word.search(text) and read(header)]


def whole_text(source: str, include_folders: Iterable[str]) -> str:
    """The source with every file that it includes in quotes, as far as these can be found."""
    folders = [folder for folder in include_folders if folder]
    queue, pieces, size = [os.path.abspath(source)], list[str](), 0
    seen: set[str] = set()
    while queue and len(seen) < _MOST_FILES and size < _MOST_CHARACTERS:
        path = queue.pop()
        if path in seen or not os.path.isfile(path):
            continue
        seen.add(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_CHARACTERS)
        pieces.append(text)
        size += len(text)
        for name in re.findall(r"^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"", text, re.MULTILINE):
            queue += [os.path.join(place, name) for place in (os.path.dirname(path), *folders)]
    return "\n".join(pieces)


def read_header(folder: str, header: str) -> str:
    """The text of one of torch's headers; empty where there is none of that name."""
    path = os.path.join(folder, header)
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def plan(
    source: str, arguments: list[str], config: dict[str, Any], precompiled: Callable[[], str]
) -> list[str] | None:
    """Arguments that make a compile command quick, or None where the plain command is best.

    ``precompiled`` gives the folder of a precompiled ``torch/extension.h``, or nothing; it is asked
    for sources that bind functions to Python, which is the costly part of the headers.
    """
    if not config["lean"] or os.environ.get(PLAIN_VARIABLE):
        return None
    text = whole_text(source, [a[2:] for a in arguments if a.startswith("-I")])
    if not worth_trying(text):
        return None
    with open(os.path.join(config["lean"], "factories.json"), encoding="utf-8") as file:
        factories = json.load(file)

    def read(header: str) -> str:
        return read_header(os.path.join(config["torch_folder"], "include"), header)

    own = os.path.abspath(os.path.basename(source) + ".lean")
    selected = os.path.join(own, SELECTED)
    more = ["-isystem", own, "-isystem", os.path.join(config["lean"], "include")]
    # In the precompiled header the gates are shut: what needs them open goes without it.
    ready = precompiled() if _BINDING.search(text) and not _WHOLE.search(text) else ""
    if ready:
        # The compiler takes a precompiled header only where it comes before everything else.
        more = ["-isystem", ready, "-include", BINDING_HEADER, "-include", selected, *more]
        factories = {name: factories[name] for name in factories.keys() - set(COMMON_FACTORIES)}
    os.makedirs(os.path.dirname(selected), exist_ok=True)
    with open(selected, "w", encoding="utf-8") as file:
        file.write(selected_header(text, read, factories))
    return more


def precompiled_header(read: Callable[[str], str], factories: dict[str, str]) -> str:
    """The header that is precompiled: tensors, the common factories, and bindings to Python."""
    text = "#include <torch/extension.h>\nPYBIND11_MODULE AT_DISPATCH parallel_for indexing "
    text += " ".join(f"torch::{name}" for name in COMMON_FACTORIES)
    common = {name: factories[name] for name in COMMON_FACTORIES if name in factories}
    return selected_header(text, read, common)


PLAIN_VARIABLE = "PYTEST_KERNELBENCH_PLAIN"
"""Set where the lean headers compiled but what they made cannot be loaded."""
COMMON_FACTORIES = (
    "arange", "empty", "empty_like", "empty_strided", "from_blob", "full", "full_like", "ones",
    "ones_like", "rand", "randn", "zeros", "zeros_like",
)  # fmt: skip
