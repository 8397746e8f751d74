"""How the keyed generator may vary an input without leaving the problem's domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_kernelbench.judge.inside.modes import MIX, PICK, SCALE, SYMMETRIC, VARIANTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

FROM_SEVERAL = frozenset(mode for mode, draws in VARIANTS.items() if draws > 1)
"""Those that take several draws."""
_SCALED = frozenset({"float64", "float32", "float16", "bfloat16"})
"""Dtypes that the generator multiplies in."""
_FEW = 16
_SAMPLE = 4096
_MATRIX_DIMENSIONS = 2
_ROW_SUM_ERROR = 1e-3


def variants(modes: Iterable[str]) -> int:
    """How many draws inputs of these modes take between them."""
    return max((VARIANTS[mode] for mode in modes), default=1)


def mode_of(tensor: torch.Tensor) -> str:
    """How the keyed generator may vary a tensor: ``scale``, ``symmetric``, ``pick`` or ``mix``.

    ``scale``: each element by a random factor; ``symmetric``: the same factor for (i, j) and (j,
    i); ``pick``: row by row from several draws, where elements are no free real numbers (integers,
    masks, labels stored as floats); ``mix``: a row is a random share of one draw's and the rest of
    another's, where rows sum to one: were they picked, each could be known after a few calls.
    """
    if str(tensor.dtype).removeprefix("torch.") not in _SCALED or tensor.numel() == 0:
        return PICK
    sample = tensor.flatten()[:_SAMPLE]
    if sample.numel() > _FEW and sample.unique().numel() <= _FEW:
        return PICK
    if tensor.dim() >= _MATRIX_DIMENSIONS:
        if tensor.shape[-1] == tensor.shape[-2] and bool((tensor == tensor.mT).all()):
            return SYMMETRIC
        rows = tensor.reshape(-1, tensor.shape[-1])[:64].double().sum(dim=1)
        if tensor.shape[-1] > 1 and bool(((rows - 1).abs() < _ROW_SUM_ERROR).all()):
            return MIX
    return SCALE
