"""Complex parameters in each dtype, judged for real on the CPU: every side casts alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import judging

PROBLEM = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 16)
        self.turn = nn.Parameter(torch.randn(16, 16, dtype=torch.complex64))

    def forward(self, x, z):
        return torch.view_as_real(self.mix(x) * (z @ self.turn))

def get_inputs():
    return [torch.randn(64, 16), torch.randn(64, 16, dtype=torch.complex64)]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_a_copy_is_right(tmp_path: Path, dtype: str) -> None:
    problem, solution = tmp_path / "problem.py", tmp_path / "solution.py"
    problem.write_text(PROBLEM)
    solution.write_text(PROBLEM.replace("Model(", "ModelNew("))
    with judging(tmp_path, dtype=dtype, correctness_only=False, budget_s=0.05) as judge:
        verdict = judge(problem, solution)
    assert verdict.status.right, (verdict.status, verdict.reasons)
    assert not [note for note in verdict.notes if "parameters copied" in note]
