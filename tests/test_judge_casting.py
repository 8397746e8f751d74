"""Floats are cast, complex numbers keep both parts, and nothing else changes."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from pytest_kernelbench.judge.inside.casting import cast_module, cast_tensor  # noqa: E402
from pytest_kernelbench.judge.inside.loading import MODULE_NAME, construct  # noqa: E402 - needs torch
from pytest_kernelbench.judge.program import load_program  # noqa: E402
from pytest_kernelbench.judge.proofs import relative_distance  # noqa: E402
from pytest_kernelbench.judge.wire import Construct  # noqa: E402

MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.real = torch.nn.Parameter(torch.ones(2))
        self.turn = torch.nn.Parameter(torch.ones(2, dtype=torch.complex64) * 1j)
        self.register_buffer("steps", torch.arange(2))

def get_inputs():
    return []
"""
CASTS = [
    ("float16", "float32", "float16"),
    ("bfloat16", "float64", "bfloat16"),
    ("float16", "complex64", "complex64"),
    ("bfloat16", "complex64", "complex64"),
    ("float64", "complex64", "complex128"),
    ("float64", "float32", "float64"),
    ("float64", "int32", "int32"),
    ("float16", "bool", "bool"),
]


@pytest.mark.parametrize(("to", "given", "made"), CASTS)
def test_tensors(to: str, given: str, made: str) -> None:
    tensor = torch.ones(2, dtype=getattr(torch, given))
    assert cast_tensor(tensor, getattr(torch, to)).dtype is getattr(torch, made)
    assert cast_tensor(tensor, None) is tensor


@pytest.mark.parametrize("beside", ["complex64", "float32"])
@pytest.mark.parametrize(("to", "given", "made"), CASTS)
def test_parameters_are_cast_as_inputs_are(to: str, given: str, made: str, beside: str) -> None:
    model = torch.nn.Module()
    model.register_buffer("known", torch.ones(2, dtype=getattr(torch, given)))
    model.register_buffer("beside", torch.ones(2, dtype=getattr(torch, beside)))
    assert cast_module(model, getattr(torch, to)).known.dtype is getattr(torch, made)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_runner_and_oracle_make_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, MODULE_NAME, None)  # who is imported under it goes again
    path = tmp_path / "p.py"
    path.write_text(MODEL)
    cast = None if dtype == "float32" else getattr(torch, dtype)
    oracles = load_program(path).make_model(0, "cpu", cast)
    order = Construct(
        str(path), "Model", pickle.dumps([]), {}, 0, "cpu", dtype,
        construct_on_device=False, extension="", tf32=False, threads=1,
    )  # fmt: skip
    made = construct(order)
    assert made.turn.imag.tolist() == [1.0, 1.0]
    assert {name: each.dtype for name, each in made.state_dict().items()} == {
        name: each.dtype for name, each in oracles.state_dict().items()
    }


def test_imaginary_parts_are_part_of_a_distance() -> None:
    one = torch.tensor([3 + 4j])
    assert relative_distance(one, one.conj()) == pytest.approx(8 / 5)
    assert relative_distance(one, one) == 0.0
