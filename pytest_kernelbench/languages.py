"""Languages and libraries of kernels: a solution in one of them is not wrong where it is missing.

Whoever says that a module is missing may be the solution itself, and is not believed.
"""

from __future__ import annotations

from importlib.util import find_spec

LANGUAGES = frozenset({
    "apex", "bitblas", "cuda", "cupy", "cutlass", "flash_attn", "flashinfer", "helion", "jax",
    "jaxlib", "mlir", "mojo", "numba", "pycuda", "quack", "sgl_kernel", "taichi", "thunderkittens",
    "tilelang", "tk", "triton", "triton_kernels", "tvm", "warp", "xformers",
})  # fmt: skip


def lacks(module: str) -> bool:
    """Whether ``module`` is one of them, or a part of one, and not installed here."""
    top = module.partition(".")[0]
    return top in LANGUAGES and find_spec(top) is None
