"""The one rule by which inputs and parameters get another dtype, on every side."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def cast_tensor(tensor: torch.Tensor, dtype: torch.dtype | None) -> torch.Tensor:
    """Cast a float tensor to ``dtype``; a complex one only to double, and no other at all.

    Complex numbers of half precision are nothing that torch could multiply matrices of.
    """
    import torch

    if dtype is None:
        return tensor
    if tensor.is_floating_point():
        return tensor.to(dtype)
    doubled = tensor.is_complex() and dtype == torch.float64
    return tensor.to(torch.complex128) if doubled else tensor


def cast_module(model: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """Cast parameters and buffers as inputs are; ``Module.to`` would drop imaginary parts."""
    tensors = [*model.parameters(), *model.buffers()]
    if any(tensor.is_complex() for tensor in tensors):
        for tensor in tensors:
            tensor.data = cast_tensor(tensor.data, dtype)
        return model
    return model.to(dtype)
