"""Names of kernels and operators: which are a library's, and how to print them short.

A demangled kernel looks like ``void at::native::vectorized_elementwise_kernel<4, Add>(int, Add)``.
What counts is the function itself, ``at::native::vectorized_elementwise_kernel``: between the
brackets of a solution's own kernels stand types of torch, too.
"""

from __future__ import annotations

import re

_LIBRARY_OPERATORS = frozenset(
    {
        "aten", "prim", "prims", "torch", "quantized", "sparse", "inductor", "profiler", "autograd",
        "rngprims", "debugprims", "static_runtime", "higher_order", "mkl", "mkldnn", "onednn",
        "mkldnn_prepacked", "xnnpack", "fbgemm", "cudnn", "nccl", "c10d", "_c10d_functional",
        "c10d_functional", "symm_mem", "torchvision", "torchaudio", "torchao",
    }
)  # fmt: skip

VIEWS = frozenset(
    {
        "view", "_unsafe_view", "_reshape_alias", "t", "transpose", "permute", "expand",
        "as_strided", "unsqueeze", "squeeze", "slice", "select", "split", "unbind", "unfold",
        "detach", "alias",
    }
)  # fmt: skip
"""Of torch's operators."""
_IDLE_OPERATORS = VIEWS | {
    # What is made of views, and memory that nobody has filled.
    "reshape", "narrow", "flatten", "contiguous", "item", "resolve_conj", "resolve_neg", "empty",
    "empty_like", "empty_strided", "new_empty",
}  # fmt: skip

_LIBRARY_FUNCTION = re.compile(
    r"""
    (at|at_cuda_detail|at_cuda_cub|c10|caffe2|pytorch_flash|torch)::        # torch
    | {anonymous}::(softmax_warp_|elementwise_kernel_with_index|CatArrayBatchedCopy)
    | fmha_cutlass[FB]_
    | nvjet_|cublas|cask_\w*cublas|internal::gemvx::|splitKreduce_kernel   # cuBLAS
    | (gemv2[NT]|gemv\w*NSP)_kernel|gemmk1_kernel|gemmSN_\w+_kernel
    | cudnn|cask_\w*cudnn|(im|ex)plicit_convolve_\w*gemm|conv2d_grouped_direct_kernel  # cuDNN
    | precomputed_convolve_sgemm|(dgrad2d|wgrad2d)_\w+|fft2d_[rc]2[rc]_|winograd_nonfused::
    | (\w+_)?sm\d+_xmma_                                                   # both of them
    | (kepler|maxwell|pascal|volta|turing|ampere)_\w*(gemm|gemv|cudnn|conv|fft)\w*_\d+x\d+
    | cutlass_\d\d+_\w+
    | cusparse|cusolver|curand|gen_sequenced|(regular|vector|multi_bluestein)_fft
    | nccl(Dev)?Kernel|multimem_                                            # between devices
    """,
    re.VERBOSE,
)
_GENERATED_CUTLASS = re.compile(r"cutlass::Kernel2?<\s*cutlass_\d\d+_")
_PARAMETERS = re.compile(
    r"\b(cublas\w*Params|cublasGemv\w+|cudnn\w*(Struct|Params)|cusparse::|cufft\w*)\b"
)
_RETURNED = re.compile(r"^(void|std::enable_if<.*?>::type) ")
_COPY = re.compile(r"Mem(cpy|set)\b")
_INDUCTOR = re.compile(
    r"triton_(poi|red|per|tem|for|mix|spl|split_scan|cooperative\w*)_fused|triton_(mm|bmm|flex_)"
)
_TEMPLATES = re.compile(r"(cub|thrust)::")
_IDENTIFIER = re.compile(r"(?<![:\w])[A-Za-z_]\w*(?:::\w+)*")
_STANDARD = frozenset(
    {
        "cub", "thrust", "cuda", "std", "at", "c10", "detail", "anonymous", "namespace", "enum",
        "struct", "class", "instance", "operator", "lambda", "const", "volatile", "unsigned",
        "signed", "int", "long", "short", "char", "bool", "float", "double", "void", "true",
        "false", "nullptr", "size_t", "int8_t", "uint8_t", "int32_t", "uint32_t", "int64_t",
        "uint64_t",
    }
)  # fmt: skip
_VERSION = re.compile(r"(CUB|THRUST)_\d\w*|__\w+")
_ANONYMOUS, _IN_BRACES = "(anonymous namespace)", "{anonymous}"
_LIMIT = 60


def is_library_operator(name: str) -> bool:
    """Whether an operator (``aten::mm``) belongs to torch, as all that torch.compile makes does."""
    namespace, found, _ = name.partition("::")
    return name == "torch.compile" or (bool(found) and namespace in _LIBRARY_OPERATORS)


def is_idle_operator(name: str) -> bool:
    """Whether one of torch's computes nothing: views, and memory that nobody has filled."""
    namespace, found, operator = name.partition("::")
    return bool(found) and namespace == "aten" and operator.rstrip("_") in _IDLE_OPERATORS


def is_library_kernel(name: str, *, compiled: bool) -> bool:
    """Whether a kernel that no operator launched has a name that only libraries give.

    Kernels named as Inductor names them are torch.compile's only where something ``compiled`` ran:
    people also submit what it generated.
    """
    if _COPY.match(name):
        return True
    function = function_of(name)
    if _LIBRARY_FUNCTION.match(function) or _GENERATED_CUTLASS.search(name):
        return True
    if _PARAMETERS.search(name):
        return True
    if compiled and _INDUCTOR.match(function):
        return True
    return bool(_TEMPLATES.match(function)) and not _foreign_types(name)


def function_of(name: str) -> str:
    """``at::native::foo`` of ``void at::native::foo<int>(int)``."""
    name = _RETURNED.sub("", name.strip()).replace(_ANONYMOUS, _IN_BRACES)
    return re.split(r"[<(]", name, maxsplit=1)[0].strip()


def shortened(name: str) -> str:
    """At most 60 characters: the function, and of what it is made for as much as there is room."""
    name = " ".join(name.split()).removeprefix("void ").replace(_ANONYMOUS, _IN_BRACES)
    return name if len(name) <= _LIMIT else name[: _LIMIT - 3] + "..."


def _foreign_types(name: str) -> bool:
    """Whether a template of CUB or Thrust is made for a type that neither they nor C++ bring."""
    roots = {found.group().partition("::")[0] for found in _IDENTIFIER.finditer(name)}
    return any(root not in _STANDARD and not _VERSION.fullmatch(root) for root in roots)
