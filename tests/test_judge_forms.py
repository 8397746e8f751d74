"""Outputs as forms: whatever a solution returns is read by torch's own functions alone."""

from __future__ import annotations

import ctypes
import os
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch

from pytest_kernelbench.judge.handover import laid_out
from pytest_kernelbench.judge.inside import forms
from pytest_kernelbench.judge.spans import contiguous_spans, sealed_memory

A, B = torch.zeros(2), torch.ones(3)
Z = torch.tensor([1 + 2j, 3 - 4j])


class Pair(NamedTuple):
    """As a solution may name its outputs."""

    first: object
    second: object


class Liar(torch.Tensor):
    """A tensor that answers every question with a lie."""

    @classmethod
    def __torch_function__(cls, *_: object, **__: object) -> Any:
        return "a lie"

    @property
    def shape(self) -> Any:  # type: ignore[override]
        return "a lie"


class Honest(torch.Tensor):
    """A tensor of another type, and no more."""


class LyingList(list[object]):
    """One that shows something else than it holds."""

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __len__(self) -> int:
        return 0


class LyingTuple(tuple[object, ...]):
    """As ``LyingList``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[object]:
        return iter(())


class LyingDict(dict[object, object]):
    """As ``LyingList``."""

    def items(self) -> Any:
        return ()


class Disguised:
    """No tensor, whatever it says."""

    @property  # type: ignore[misc] # what isinstance asks
    def __class__(self) -> Any:
        return torch.Tensor


STRUCTURES: dict[str, tuple[object, str, list[torch.Tensor]]] = {
    "a tensor": (A, "T", [A]),
    "nothing": (None, "None", []),
    "a text": ("T", "'T'", []),
    "a tuple": ((A, B), "(T,T,)", [A, B]),
    "a tuple of one": ((A,), "(T,)", [A]),
    "an empty tuple": ((), "(,)", []),
    "a list": ([A, [B, None]], "[T,[T,None]]", [A, B]),
    "a named tuple is a tuple": (Pair(A, [B]), "(T,[T],)", [A, B]),
    "what torch's max returns is a tuple": (torch.ones(2, 2).max(0), "(T,T,)", []),
    "a dictionary": ({"a": A, "b": (B,)}, "{'a':T,'b':(T,)}", [A, B]),
    "the order of a dictionary does not matter": ({"b": A, "a": B}, "{'a':T,'b':T}", [B, A]),
    "of an ordered one neither": (OrderedDict(b=A, a=B), "{'a':T,'b':T}", [B, A]),
    "keys of several kinds": ({1: A, "1": B}, "{'1':T,1:T}", [B, A]),
    "a parameter": (torch.nn.Parameter(A), "T", [A]),
    "a list that lies": (LyingList([A, B]), "[T,T]", [A, B]),
    "a tuple that lies": (LyingTuple([A, B]), "(T,T,)", [A, B]),
    "a dictionary that lies": (LyingDict(a=A), "{'a':T}", [A]),
    "no tensor": (Disguised(), "<Disguised>", []),
    "a set": ({1}, "<set>", []),
    "a function": (lambda: A, "<function>", []),
}


@pytest.mark.parametrize(("value", "structure", "tensors"), STRUCTURES.values(), ids=STRUCTURES)
def test_structure_and_tensors(value: object, structure: str, tensors: list[torch.Tensor]) -> None:
    said, found = forms.flatten(value)
    assert said == structure
    assert len(found) == structure.count("T") - structure.count("'T'")
    for got, expected in zip(found, tensors, strict=False):
        assert torch.equal(got, expected)


@pytest.mark.parametrize(
    ("number", "name", "dtype"),
    [
        (True, "bool", torch.bool),
        (7, "int", torch.int64),
        (0.1, "float", torch.float64),
        (1j, "complex", torch.complex64),
    ],
)
def test_numbers_are_tensors_that_lose_nothing(
    number: complex, name: str, dtype: torch.dtype
) -> None:
    structure, (tensor,) = forms.flatten(number)
    assert (structure, tensor.dtype, tensor.item()) == (name, dtype, number)


def test_the_facts_of_a_tensor() -> None:
    tensor = torch.zeros(4, 6, dtype=torch.bfloat16)[1:, ::2]
    found = forms.leaf(tensor)
    assert (found.dtype, found.shape, found.strides) == ("bfloat16", (3, 3), (6, 2))
    assert (found.device, found.exact_type, found.pointer) == ("cpu", True, tensor.data_ptr())


def test_a_parameter_is_as_good_as_a_tensor() -> None:
    assert forms.leaf(torch.nn.Parameter(A)).exact_type


@pytest.mark.parametrize(
    ("tensor", "name"),
    [
        (A.as_subclass(Liar), "Liar"),
        (A.as_subclass(Honest), "Honest"),
        (A.to_sparse(), "Tensor"),
    ],
    ids=["a liar", "a subclass", "sparse"],
)
def test_of_any_other_kind_nothing_is_believed(tensor: torch.Tensor, name: str) -> None:
    found = forms.leaf(tensor)
    assert not found.exact_type
    assert (found.dtype, found.shape, found.strides, found.pointer) == (name, (), (), 0)


def memory(tensor: torch.Tensor) -> torch.Tensor:
    """What lies where a tensor's form says it does: the judge reads no more."""
    plain = forms.plain(tensor)
    found = forms.leaf(plain)
    dtype = getattr(torch, found.dtype)
    count = 1 + sum(
        step * (size - 1) for step, size in zip(found.strides, found.shape, strict=True)
    )
    raw = ctypes.string_at(found.pointer, count * dtype.itemsize)
    return torch.frombuffer(bytearray(raw), dtype=dtype).as_strided(found.shape, found.strides)


LAZY = {
    "conjugate": Z.conj(),
    "conjugate of a transpose": torch.outer(Z, Z).mH,
    "the imaginary part of a conjugate": Z.conj().imag,
    "negative": torch._neg_view(B),
    "negative conjugate": torch._neg_view(Z.conj()),
    "neither": Z,
    "real": B,
}


@pytest.mark.parametrize("tensor", LAZY.values(), ids=LAZY)
def test_bytes_mean_what_they_say(tensor: torch.Tensor) -> None:
    assert torch.equal(memory(tensor), tensor)


@pytest.mark.parametrize("tensor", LAZY.values(), ids=LAZY)
def test_so_do_those_of_inputs(tensor: torch.Tensor) -> None:
    (span,), size = contiguous_spans([tensor])
    fd = sealed_memory([tensor], [span], size)
    with os.fdopen(fd, "rb") as file:
        flat = torch.frombuffer(bytearray(file.read(span.size_bytes)), dtype=tensor.dtype)
    assert torch.equal(flat.view(span.shape), tensor)


def test_what_is_not_lazy_is_left_where_it_is() -> None:
    assert forms.plain(A) is A
    liar = Z.conj().as_subclass(Liar)
    assert forms.plain(liar) is liar


def test_arguments_are_filled_into_their_layout() -> None:
    layout, tensors = laid_out([B, {"a": [A, 2]}, (A, None), "text"])
    assert [tensor.shape for tensor in tensors] == [B.shape, A.shape, A.shape]
    others = [torch.zeros(1), torch.zeros(2), torch.zeros(3)]
    x, named, pair, text = forms.fill(layout, others)
    assert x is others[0]
    assert named["a"][0] is others[1]
    assert named["a"][1] == 2
    assert pair[0] is others[2]
    assert (type(pair), pair[1], text) == (tuple, None, "text")
