"""Problems that their own inputs do not tell kernels apart by: other inputs, or no verdict."""

from __future__ import annotations

from pathlib import Path

from judged import Judge, judging

from pytest_kernelbench.verdict import Status

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
PROBLEM = """class Model(nn.Module):
{init}
    def forward(self, x):
        return {expression}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
GAMMA = """    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((64,), {}))
"""


def pair(
    folder: Path, expression: str, answer: str, inputs: str = "torch.randn(64, 64)", init: str = ""
) -> tuple[Path, Path]:
    """A foreign problem (it declares no small size) and a solution that answers ``answer``."""
    problem, solution = folder / "problem.py", folder / "solution.py"
    problem.write_text(HEAD + PROBLEM.format(init=init, expression=expression, inputs=inputs))
    text = (
        f"class ModelNew(nn.Module):\n{init}\n    def forward(self, x):\n        return {answer}\n"
    )
    solution.write_text(HEAD + text)
    return problem, solution


def test_a_relu_that_never_binds_is_tried_on_negative_inputs(judge: Judge, tmp_path: Path) -> None:
    verdict = judge(*pair(tmp_path, "torch.relu(x) + 1", "x + 1", "torch.rand(64, 64)"))
    assert verdict.status is Status.WRONG_VALUE
    assert "wrong or of lower precision for negative inputs" in verdict.reasons[0]
    assert "on the problem's own inputs relu changes nothing" in verdict.reasons[0]


def test_a_relu_that_binds_leaves_foreign_problems_to_their_own_inputs(
    judge: Judge, tmp_path: Path
) -> None:
    # Right on what the problem draws (none is below -6), wrong elsewhere: a finding, no rejection.
    verdict = judge(*pair(tmp_path, "torch.relu(x)", "torch.clamp(x, 0, 50)"))
    assert verdict.status.right, verdict.reasons
    assert any(
        note.startswith("finding: wrong or of lower precision for large inputs")
        for note in verdict.notes
    )


def test_who_dies_on_foreign_problems_other_inputs_has_crashed(
    judge: Judge, tmp_path: Path
) -> None:
    """Where nothing is timed, nobody asked a dead process for a right answer any more."""
    problem, solution = pair(tmp_path, "x * 2", "x * 2 if x.min() >= 0 else os.abort()",
                             "torch.rand(64, 64)")  # fmt: skip
    solution.write_text(f"import os\n{solution.read_text()}")
    verdict = judge(problem, solution)
    assert verdict.status is Status.CRASHED
    assert not verdict.agreed
    assert verdict.reasons == ("died of SIGABRT in forward() (on negated inputs)",)


def test_a_term_too_small_to_be_judged_makes_a_bad_problem(judge: Judge, tmp_path: Path) -> None:
    init = GAMMA.format("1e-5")
    verdict = judge(*pair(tmp_path, "x + self.gamma * torch.tanh(x)", "x + 0", init=init))
    assert verdict.status is Status.BAD_PROBLEM
    assert "the parameter gamma is too small" in verdict.reasons[0]


def test_a_small_parameter_that_shows_is_no_matter(judge: Judge, tmp_path: Path) -> None:
    expression = "self.gamma * x"
    verdict = judge(*pair(tmp_path, expression, expression, init=GAMMA.format("1e-5")))
    assert verdict.status.right, verdict.reasons


def test_a_constant_output_makes_a_bad_problem(judge: Judge, tmp_path: Path) -> None:
    answer = "torch.full((64,), 1 / 64)"
    verdict = judge(*pair(tmp_path, "torch.softmax(x, dim=-1).mean(dim=-1)", answer))
    assert verdict.status is Status.BAD_PROBLEM


def test_a_constant_within_a_coarse_tolerance_is_found_by_the_families(tmp_path: Path) -> None:
    expression, inputs = "x.square().mean().sqrt()", "torch.randn(256, 256)"
    with judging(tmp_path, atol=1e-2, rtol=1e-2) as judge:
        constant = judge(*pair(tmp_path, expression, "torch.tensor(1.0)", inputs))
        honest = judge(*pair(tmp_path, expression, "x.norm() / 256", inputs))
    assert constant.status is Status.WRONG_VALUE
    # By the families, or before, on the problem's own inputs: both are held against float64.
    found = ("two draws of inputs agree within the tolerance", "of lower precision than the refer")
    assert any(words in constant.reasons[0] for words in found), constant.reasons
    assert honest.status.right, honest.reasons
