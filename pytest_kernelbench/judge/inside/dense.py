"""Outputs as one block of bytes, in the order in which they lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill one block without gaps or overlaps, in whatever order of axes."""
    expected = 1
    for stride, size in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True
