"""Form before value: what ``forward`` returned, but for its numbers. Torch-free.

Structure, type, device, dtype, shape and strides.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.judge.wire import Leaf, Span

Fault = tuple[Status, str]
_COUNTED = 1 << 16
"""A tensor in place of views of it can have such strides, but is hardly ever large."""


class Form(Protocol):
    """What is known of the reference's outputs: ``questions.Prepared``."""

    @property
    def structure(self) -> str:
        """``T`` where a tensor is, in whatever containers."""

    @property
    def outputs(self) -> tuple[Span, ...]:
        """Contiguous forms of them."""

    @property
    def expanded(self) -> tuple[bool, ...]:
        """Whether elements share memory."""


ITEM_BYTES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float16": 2, "bfloat16": 2, "float32": 4,
    "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
}  # fmt: skip


def form_fault(structure: str, leaves: Sequence[Leaf], expected: Form, device: str) -> Fault | None:
    """The first way in which a result differs from the reference's in form, or None."""
    outputs = expected.outputs
    if structure != expected.structure or len(leaves) != len(outputs):
        text = f"returned {structure[:200]}, where the reference returns {expected.structure[:200]}"
        return Status.WRONG_STRUCTURE, f"{text} (T is a tensor)"
    each = zip(leaves, outputs, expected.expanded, strict=True)
    for index, (leaf, span, expanded) in enumerate(each):
        where = "the output" if len(outputs) == 1 else f"output {index}"
        if fault := _leaf_fault(leaf, span, where, device) or _overlap(leaf, where, expanded):
            return fault
    return None


def _leaf_fault(leaf: Leaf, span: Span, where: str, device: str) -> Fault | None:
    if not leaf.exact_type:
        text = f"{where} is a {leaf.dtype[:80]}, where a plain strided torch.Tensor is due"
        return Status.WRONG_STRUCTURE, text
    if leaf.device.partition(":")[0] != device.partition(":")[0]:
        text = f"{where} lies on {leaf.device[:40]}, where the reference's lies on {device}"
        return Status.WRONG_STRUCTURE, text
    if leaf.shape != span.shape:
        text = f"{where} has shape {list(leaf.shape)}, where the reference's has {list(span.shape)}"
        return Status.WRONG_SHAPE, text
    if leaf.dtype != span.dtype:
        text = f"{where} has dtype {leaf.dtype[:40]}, where the reference's has {span.dtype}"
        return Status.WRONG_DTYPE, text
    return None


def _overlap(leaf: Leaf, where: str, expanded: bool) -> Fault | None:  # noqa: FBT001 - a fact of it
    if (
        len(leaf.strides) != len(leaf.shape)
        or min(leaf.strides, default=0) < 0
        or (overlaps(leaf.shape, leaf.strides) and not expanded)
    ):
        layout = f"shape {list(leaf.shape)}, strides {list(leaf.strides)}"
        text = f"elements of {where} share memory ({layout})"
        return Status.WRONG_STRUCTURE, text
    return None


def overlaps(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two elements lie at one place (or strides run backwards).

    Beyond ``_COUNTED`` elements: whether they may, since that takes too long to find out.
    """
    if 0 in shape:
        return False
    reach = 0
    axes = sorted((s, n) for s, n in zip(strides, shape, strict=True) if n > 1)
    for stride, size in axes:
        if stride <= reach:
            return _share_places(axes)
        reach += stride * (size - 1)
    return False


def _share_places(axes: Sequence[tuple[int, int]]) -> bool:
    """The same by counting: axes of which none reaches over the next need none of it."""
    count = math.prod(size for _, size in axes)
    if count > _COUNTED or min(axes)[0] <= 0:
        return True
    places = {0}
    for stride, size in axes:
        places = {place + stride * index for place in places for index in range(size)}
    return len(places) < count


def extent_bytes(leaf: Leaf) -> int:
    """From the first to the last byte of a tensor."""
    if 0 in leaf.shape:
        return 0
    last = sum((n - 1) * s for n, s in zip(leaf.shape, leaf.strides, strict=True))
    return (last + 1) * ITEM_BYTES[leaf.dtype]
