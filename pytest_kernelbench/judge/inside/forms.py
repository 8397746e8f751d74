"""Outputs as forms: the structure as a string, each tensor as numbers.

Never calls a method of an output. A solution may return an object that answers every question with
a lie, so all facts are read through functions of ``torch.Tensor`` itself, taken before the solution
was imported.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import torch

from pytest_kernelbench.judge.wire import Leaf

_POINTER = torch.Tensor.data_ptr
_STRIDE = torch.Tensor.stride
_SIZE = torch.Tensor.size
_IS_CONJ = torch.Tensor.is_conj
_IS_NEG = torch.Tensor.is_neg
_RESOLVE_CONJ = torch.Tensor.resolve_conj
_RESOLVE_NEG = torch.Tensor.resolve_neg
# torch's stubs have these as plain attributes; each is a descriptor.
_DTYPE = torch.Tensor.dtype.__get__  # type: ignore[attr-defined]
_DEVICE = torch.Tensor.device.__get__
_LAYOUT = torch.Tensor.layout.__get__  # type: ignore[attr-defined]
_PARAMETER = torch.nn.Parameter
_TENSOR = torch.Tensor
_STRIDED = torch.strided
_as_tensor = torch.tensor


def flatten(value: Any) -> tuple[str, list[torch.Tensor]]:
    """``(structure, tensors)``: ``"(T,{'a':T})"`` and the tensors in that order.

    Numbers become tensors.
    """
    tensors: list[torch.Tensor] = []
    return _describe(value, tensors), tensors


def _describe(value: Any, tensors: list[torch.Tensor]) -> str:  # noqa: PLR0911 - one a kind
    kind = type(value)
    if issubclass(kind, _TENSOR):
        tensors.append(value)
        return "T"
    if value is None or kind is str:
        return repr(value)
    if kind in (bool, int, float, complex):
        tensors.append(_as_tensor(value, dtype=torch.float64 if kind is float else None))
        return kind.__name__
    if issubclass(kind, dict):
        items = sorted(dict.items(value), key=lambda item: repr(item[0]))
        return "{" + ",".join(f"{key!r}:{_describe(item, tensors)}" for key, item in items) + "}"
    if issubclass(kind, tuple):
        return "(" + ",".join(_describe(item, tensors) for item in tuple.__iter__(value)) + ",)"
    if issubclass(kind, list):
        return "[" + ",".join(_describe(item, tensors) for item in list.__iter__(value)) + "]"
    return f"<{kind.__name__}>"


def leaf(tensor: torch.Tensor) -> Leaf:
    """The facts of one tensor."""
    exact = type(tensor) in (_TENSOR, _PARAMETER) and _LAYOUT(tensor) is _STRIDED
    if not exact:
        return Leaf(type(tensor).__name__, (), (), 0, "", exact_type=False)
    return Leaf(
        dtype=str(_DTYPE(tensor)).removeprefix("torch."),
        shape=tuple(_SIZE(tensor)),
        strides=tuple(_STRIDE(tensor)),
        pointer=_POINTER(tensor),
        device=str(_DEVICE(tensor)),
        exact_type=True,
    )


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without lazy conjugation or negation: bytes that mean what they say."""
    if type(tensor) not in (_TENSOR, _PARAMETER):
        return tensor
    if _IS_NEG(tensor) or _IS_CONJ(tensor):  # real ones too: the imaginary part of a conjugate
        return _RESOLVE_NEG(_RESOLVE_CONJ(tensor))
    return tensor


class Filling(pickle.Unpickler):
    """Reads a layout: where a tensor stood is its number among ``tensors``."""

    def __init__(self, layout: bytes, tensors: list[torch.Tensor]) -> None:
        super().__init__(io.BytesIO(layout))
        self._tensors = tensors

    def persistent_load(self, number: Any) -> Any:
        """The tensor of that number."""
        return self._tensors[number]


def fill(layout: bytes, tensors: list[torch.Tensor]) -> list[Any]:
    """The arguments of ``forward``: the layout made by the oracle, with its tensors."""
    arguments: list[Any] = Filling(layout, tensors).load()
    return arguments
