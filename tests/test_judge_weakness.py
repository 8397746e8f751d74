"""What a problem's own inputs and parameters cannot show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pytest_kernelbench.judge.comparison import agrees
from pytest_kernelbench.judge.questions import Prepare
from pytest_kernelbench.judge.reference import Reference
from pytest_kernelbench.judge.weakness import hidden_step, negligible_term

PROBLEM = """import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter({gamma})

    def forward(self, x):
        {body}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
Make = Callable[..., tuple[Reference, Prepare]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def problem(
        body: str, gamma: str = "torch.ones(8)", inputs: str = "torch.randn(16, 8)"
    ) -> tuple[Reference, Prepare]:
        path = tmp_path / "problem.py"
        path.write_text(PROBLEM.format(gamma=gamma, body=body, inputs=inputs))
        order = Prepare(str(path), "full", "cpu", "fp32", 1, 1e-4, 1e-4, tf32=False, threads=1)
        return Reference(order), order

    return problem


SMALL = "torch.full((8,), 1e-5)"
LAYER_SCALE = "return x + self.gamma * torch.relu(x)"
INPUT = torch.linspace(-1, 1, 128).view(16, 8)


def test_a_term_within_the_tolerance_is_found(make: Make) -> None:
    reference, order = make(LAYER_SCALE, SMALL)
    said = negligible_term(reference, [INPUT], order)
    assert said.startswith("the parameter gamma is too small for its term to be judged")
    assert "changes by at most 1e-05" in said


@pytest.mark.parametrize(
    ("body", "gamma"),
    [
        (LAYER_SCALE, "torch.full((8,), 1e-3)"),  # small, and beyond the tolerance
        (LAYER_SCALE, "torch.full((8,), 0.5)"),
        (LAYER_SCALE, "torch.zeros(8)"),  # nobody's term
        (LAYER_SCALE, "torch.full((8,), 1e-9)"),  # below what float32 rounds: nobody's fault
        (f"{LAYER_SCALE} * torch.eye(8)[0]", "torch.tensor([1e-5] + [1.0] * 7)"),  # large elsewhere
        (f"assert self.gamma.any(); {LAYER_SCALE}", SMALL),  # does not run without it
        ("return self.gamma * x", SMALL),  # without it there is no output
        ("return x * 2", SMALL),  # without effect
        ("return x", "torch.empty(0, 8)"),
        ("return x + self.gamma * torch.relu(x), self.gamma * x", SMALL),  # the second shows it
    ],
)
def test_a_term_that_can_be_judged(make: Make, body: str, gamma: str) -> None:
    reference, order = make(body, gamma)
    assert negligible_term(reference, [INPUT], order) == ""


def test_of_what_does_not_run_in_float64_nothing_is_said(make: Make) -> None:
    body = "return (x + self.gamma * x) @ torch.ones(8, 8, dtype=torch.float32)"
    reference, order = make(body, "torch.full((8,), 1e-5)")
    assert negligible_term(reference, [torch.randn(16, 8)], order) == ""
    assert reference.no_double


EQUAL = "on the problem's own inputs the output equals an input, within the tolerance"
IDLE = "on the problem's own inputs {} changes nothing"


@pytest.mark.parametrize(
    ("body", "inputs", "said"),
    [
        ("return torch.relu(x) + 1", "torch.rand(16, 8)", IDLE.format("relu")),
        ("return torch.relu(x) + 1", "torch.randn(16, 8)", ""),
        ("return torch.relu(x)", "torch.rand(16, 8)", EQUAL),
        ("return x * (1 + 1e-6)", "torch.randn(16, 8)", EQUAL),
        ("return x * 1.1", "torch.randn(16, 8)", ""),
        ("return x, x + 1", "torch.randn(16, 8)", EQUAL),
        ("return x.double()", "torch.randn(16, 8)", ""),
        ("return x.T", "torch.randn(16, 8)", ""),
        ("return x", "torch.randn(1)", ""),  # one number says little
        ("return x.mul_(2)", "torch.randn(16, 8)", ""),  # held against what x was
        ("return (x + 1).clamp(-99, 99)", "torch.randn(16, 8)", IDLE.format("clamp")),
        ("return (x + 1).clamp_(-99, 99)", "torch.randn(16, 8)", IDLE.format("clamp")),
        ("return (x + 1).clamp_(min=-99)", "torch.randn(16, 8)", IDLE.format("clamp")),
        ("return (x + 1).clamp(0, 1)", "torch.randn(16, 8)", ""),
        ("return (x + 1).clamp_(0, 1)", "torch.randn(16, 8)", ""),
        ("return nn.functional.relu6(x + 1)", "torch.rand(16, 8)", IDLE.format("hardtanh")),
        ("return nn.functional.leaky_relu(x + 1)", "torch.rand(8)", IDLE.format("leaky_relu")),
        ("return x.abs().relu() + 1", "torch.rand(16, 8)", IDLE.format("abs, relu")),
        ("return x.relu().relu() + 1", "torch.randn(16, 8)", ""),  # once it did something
        ("return x.relu() + x.abs()", "torch.randn(16, 8).abs() + 1", IDLE.format("abs, relu")),
        ("return x.clamp(0, 9) + 1", "torch.arange(8)", ""),  # of integers the families know none
    ],
)
def test_a_step_that_own_inputs_cannot_show(make: Make, body: str, inputs: str, said: str) -> None:
    reference, order = make(body, inputs=inputs)
    arguments = reference.inputs(7, "plain")
    assert hidden_step(reference, arguments, None, agrees, order) == said
