"""Triton's interpreter, which stands for the compiler on a CPU, where it falls short of it.

It has no device to time the configurations of an autotuner on, and multiplies the bits of bfloat16
matrices instead of their numbers.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from pytest_kernelbench.errors import said

_FALLS_SHORT = "not supported in interpreter mode"
_LIBRARY = "libdevice"
_OF_NONE = ("cannot convert None", "Did you forget to add @triton.jit")
"""What is said of the library's functions, or of the None that they give."""


def interprets() -> bool:
    """Whether Triton's kernels are interpreted here: where there is no device."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def complete() -> None:
    """Make up for it once the solution has imported Triton; may be called again."""
    if not interprets() or "triton" not in sys.modules:
        return
    from triton.runtime.autotuner import Autotuner  # type: ignore[import-untyped]
    from triton.runtime.interpreter import (  # type: ignore[import-untyped]
        InterpreterBuilder,
        TensorHandle,
    )

    Autotuner._bench = _take_the_first  # noqa: SLF001 - there is no other way in
    original = InterpreterBuilder.create_dot
    if getattr(original, "numbers", False):
        return

    def create_dot(builder: Any, a: Any, b: Any, *more: Any) -> Any:
        return original(builder, _numbers(a, TensorHandle), _numbers(b, TensorHandle), *more)

    create_dot.numbers = True  # type: ignore[attr-defined]
    InterpreterBuilder.create_dot = create_dot


def falls_short(error: BaseException, source: str) -> bool:
    """Whether the interpreter lacks what ``source`` asks of it: no fault of the kernel's."""
    text = said(error)
    if _FALLS_SHORT in text:
        return True
    return _LIBRARY in source and any(words in text for words in _OF_NONE)


def _take_the_first(_: Any, *__: Any, **___: Any) -> list[float]:
    """All configurations take as long as each other, so that the first is taken."""
    return [0.0, 0.0, 0.0]


def _numbers(handle: Any, kind: Any) -> Any:
    import numpy as np
    import triton.language as tl  # type: ignore[import-untyped]

    if not handle.dtype.scalar.is_bf16():
        return handle
    return kind((handle.data.astype(np.uint32) << 16).view(np.float32), tl.float32)
