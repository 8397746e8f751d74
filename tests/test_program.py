from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
import torch

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.program import load_program, map_tensors, sizes

if TYPE_CHECKING:
    from pathlib import Path

NATIVE = '''
"""Scaled sum."""
import torch
from torch import nn
N = 6
SMOKE = {"N": 3}
SHAPES = [{"N": 4}]
DTYPES = ("fp32",)
FAMILIES = ()
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.register_buffer("steps", torch.arange(width))
    def forward(self, x, rows, extra):
        return self.layer(x)
def get_inputs():
    return [torch.randn(N, N), torch.randint(0, 9, (N,)), [torch.ones(2, dtype=torch.bool), None]]
def get_init_inputs():
    return [N]
'''

FOREIGN = """
import torch
class Model(torch.nn.Module):
    def forward(self, a):
        return a
def get_inputs():
    return [torch.rand(2, 2)]
"""


@pytest.fixture
def native(tmp_path: Path) -> Path:
    path = tmp_path / "001_scaled_sum.py"
    path.write_text(NATIVE)
    return path


def test_declarations(native: Path) -> None:
    program = load_program(native)
    assert program.is_native
    assert program.SMOKE == {"N": 3}
    assert program.SHAPES == ({"N": 4},)
    assert (program.DTYPES, program.FAMILIES) == (("fp32",), ())
    assert sizes(program) == [("full", {}), ("smoke", {"N": 3}), ("shape0", {"N": 4})]


def test_foreign_file_gets_defaults(tmp_path: Path) -> None:
    path = tmp_path / "1_add_.py"
    path.write_text(FOREIGN)
    program = load_program(path)
    assert not program.is_native
    assert (program.SMOKE, program.SHAPES) == ({}, ())
    assert program.DTYPES == ("fp32", "fp16", "bf16")
    assert program.FAMILIES == ("negated", "zero_mean", "large", "small", "mixed")
    assert sizes(program) == [("full", {})]
    assert program.make_init_inputs(0) == []
    assert program.make_inputs(0)[0].shape == (2, 2)


def test_sizes_live_side_by_side(native: Path) -> None:
    small, full = load_program(native, {"N": 3}), load_program(native)
    assert small.make_inputs(0)[0].shape == (3, 3)
    assert full.make_inputs(0)[0].shape == (6, 6)


def test_seed_decides_inputs_and_parameters(native: Path) -> None:
    program = load_program(native)
    same = program.make_inputs(1)[0], program.make_inputs(1)[0]
    assert torch.equal(*same)
    assert not torch.equal(same[0], program.make_inputs(2)[0])
    weights = [program.make_model(seed).layer.weight for seed in (1, 1, 2)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_parameters_are_the_first_draw_after_the_seed(native: Path) -> None:
    # A solution's constructor, seeded alike, must draw the same numbers.
    torch.manual_seed(5)
    expected = torch.nn.Linear(6, 6).weight
    assert torch.equal(load_program(native).make_model(5).layer.weight, expected)


def test_only_floats_change_dtype(native: Path) -> None:
    x, rows, (mask, nothing) = load_program(native).make_inputs(0, "cpu", torch.float16)
    assert (x.dtype, rows.dtype, mask.dtype) == (torch.float16, torch.int64, torch.bool)
    assert nothing is None
    model = load_program(native).make_model(0, "cpu", torch.bfloat16)
    assert (model.layer.weight.dtype, model.steps.dtype) == (torch.bfloat16, torch.int64)


def test_complex_parameters_keep_their_imaginary_parts(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    buffer = "self.register_buffer('w', torch.ones(2, dtype=torch.complex64) * 1j)"
    path.write_text(
        FOREIGN.replace("    def", f"    def __init__(self):\n        super().__init__()\n"
                        f"        {buffer}\n    def", 1)
    )  # fmt: skip
    model = load_program(path).make_model(0, "cpu", torch.float64)
    assert model.w.dtype == torch.complex128
    assert model.w.imag.tolist() == [1.0, 1.0]


def test_meta_device(native: Path) -> None:
    program = load_program(native)
    assert program.make_inputs(0, "meta")[0].device.type == "meta"
    assert program.make_model(0, "meta").layer.weight.device.type == "meta"
    assert (program.init_on, program.inputs_on) == ("meta", "meta")


def test_constructor_unfit_for_a_device_context_falls_back_to_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text(
        FOREIGN.replace("torch.rand(2, 2)", "torch.tensor(torch.rand(2).tolist()).to('cpu')")
    )
    program = load_program(path)
    assert program.make_inputs(0, "meta")[0].device.type == "meta"
    assert program.inputs_on == "cpu"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def broken(:", "cannot be imported: SyntaxError"),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit"),
        ("x = 1", "defines no Model"),
        ("class Model: pass", "defines no get_inputs"),
        (FOREIGN.replace("torch.rand(2, 2)", "1 / 0"), r"get_inputs\(\) raised ZeroDivisionError"),
    ],
)
def test_a_broken_file_is_a_problem_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.py"
    path.write_text(text)
    before = set(sys.modules)
    with pytest.raises(ProblemError, match=message) as caught:
        load_program(path).make_inputs(0)
    assert str(path) in str(caught.value)
    if "cannot be imported" in message:
        assert not [name for name in set(sys.modules) - before if "kernelbench_problem" in name]


def test_unknown_override_names_the_known_ones(native: Path) -> None:
    with pytest.raises(ProblemError, match="no constant M to override; it has: N, SMOKE"):
        load_program(native, {"M": 1})


def test_nothing_is_written_beside_the_problem(native: Path) -> None:
    load_program(native)
    assert [each.name for each in native.parent.iterdir()] == [native.name]


def test_map_tensors_keeps_structure() -> None:
    tree = {"a": [torch.ones(1), 2], "b": (torch.ones(1), None)}
    doubled = map_tensors(tree, lambda tensor: tensor * 2)
    assert doubled == {"a": [torch.full((1,), 2.0), 2], "b": (torch.full((1,), 2.0), None)}


def test_what_inputs_leave_uninitialized_is_zero(tmp_path: Path) -> None:
    """A buffer to be written to must not hold an answer that was in this memory before."""
    path = tmp_path / "into.py"
    path.write_text(
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x, *into): return x\n"
        "def get_inputs():\n"
        "    x = torch.rand(1000)\n"
        "    strided = torch.empty_strided((10, 100), (100, 1))\n"
        "    return [x, torch.empty_like(x), torch.empty(1000), strided, x.new_empty(1000)]\n"
    )
    program = load_program(path)
    for seed in range(5):
        used = [torch.full((1000,), 7.0) for _ in range(8)]
        del used
        drawn, *buffers = program.make_inputs(seed)
        assert drawn.abs().sum() > 0
        assert [buffer.count_nonzero().item() for buffer in buffers] == [0] * 4
