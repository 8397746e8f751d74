"""References that are not quite as most are: judged, or refused for what they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.verdict import Status

if TYPE_CHECKING:
    from judged import Judge

PROBLEM = """
import random
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.shift = torch.ones(64)

    def forward(self, x):
        return {expression}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
RANDN = "torch.randn(64, 64)"


def pair(
    folder: Path, expression: str, answer: str | None = None, inputs: str = RANDN
) -> tuple[Path, Path]:
    """A foreign problem, and a solution that answers ``answer``; the same if None."""
    problem, solution = folder / "problem.py", folder / "solution.py"
    text = PROBLEM.format(expression=expression, inputs=inputs)
    problem.write_text(text)
    answered = PROBLEM.format(expression=answer or expression, inputs=inputs)
    solution.write_text(answered.replace("class Model(", "class ModelNew("))
    return problem, solution


DTYPES = "x @ (torch.eye(64, dtype=torch.float32) * 2)"


def test_a_reference_that_does_not_run_in_float64_is_judged_without(
    judge: Judge, tmp_path: Path
) -> None:
    verdict = judge(*pair(tmp_path, DTYPES))
    assert verdict.status.right, verdict.reasons
    assert any(note.startswith("not held against float64: ") for note in verdict.notes)
    assert judge(*pair(tmp_path, DTYPES, f"{DTYPES} + 0.01")).status is Status.WRONG_VALUE


@pytest.mark.parametrize("expression", ["x @ (torch.eye(64) * 2)", "x.mm(self.shift.diag()) * 2"])
def test_what_forward_makes_or_keeps_is_float64_there_too(
    judge: Judge, tmp_path: Path, expression: str
) -> None:
    verdict = judge(*pair(tmp_path, expression, "x * 2"))
    assert verdict.status.right, verdict.reasons
    assert not any("float64" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("x + random.random()", "does not agree with itself"),
        ("x[x > 0]", "changes its shape from one draw of inputs to the next"),
        ("x.view(-1).unbind()[: int(x.sum().abs() * 1e6) % 4093 + 1]", "changes its shape"),
    ],
)
def test_what_no_answer_can_agree_with_is_a_bad_problem(
    judge: Judge, tmp_path: Path, expression: str, words: str
) -> None:
    verdict = judge(*pair(tmp_path, expression, "x"))
    assert verdict.status is Status.BAD_PROBLEM
    assert words in verdict.reasons[0]


def test_a_reference_that_works_in_place_agrees_with_itself(judge: Judge, tmp_path: Path) -> None:
    verdict = judge(*pair(tmp_path, "x.mul_(2)", "x * 2"))
    assert verdict.status.right, verdict.reasons


def test_complex_answers_are_compared_and_shown(judge: Judge, tmp_path: Path) -> None:
    assert judge(*pair(tmp_path, "torch.fft.rfft(x)")).status.right
    wrong = judge(*pair(tmp_path, "torch.fft.rfft(x)", "torch.fft.rfft(x) + 1"))
    assert wrong.status is Status.WRONG_VALUE
    assert "expected " in wrong.detail


@pytest.mark.parametrize(
    ("expression", "answer", "inputs"),
    [
        ("torch.complex(x, 2 * x).conj().imag", "-2 * x", RANDN),
        ("-2 * x", "torch.complex(x, 2 * x).conj().imag", RANDN),
        ("x.real - x.imag", None, "torch.randn(64, 64, dtype=torch.complex64).conj()"),
    ],
    ids=["reference", "answer", "input"],
)
def test_what_torch_turns_lazily_has_the_sign_that_it_shows(
    judge: Judge, tmp_path: Path, expression: str, answer: str | None, inputs: str
) -> None:
    verdict = judge(*pair(tmp_path, expression, answer, inputs))
    assert verdict.status.right, verdict.reasons


def test_an_expanded_view_may_be_answered_by_another_or_by_all_elements(
    judge: Judge, tmp_path: Path
) -> None:
    expression = "x.sum(1, keepdim=True).expand(64, 64)"
    assert judge(*pair(tmp_path, expression)).status.right
    assert judge(*pair(tmp_path, expression, f"{expression}.contiguous()")).status.right
    wrong = judge(*pair(tmp_path, expression, "x.sum(0, keepdim=True).expand(64, 64)"))
    assert wrong.status is Status.WRONG_VALUE


def test_where_the_reference_writes_all_elements_no_view_will_do(
    judge: Judge, tmp_path: Path
) -> None:
    whole = "x.sum(1, keepdim=True) * torch.ones(64)"
    verdict = judge(*pair(tmp_path, whole, "x.sum(1, keepdim=True).expand(64, 64)"))
    assert verdict.status is Status.WRONG_STRUCTURE


EIGHT = "torch.randn(64, 64).to(torch.float8_e4m3fn)"


def test_inputs_of_eight_bits_are_taken_as_they_are(judge: Judge, tmp_path: Path) -> None:
    verdict = judge(*pair(tmp_path, "x.float() * 2", inputs=EIGHT))
    assert verdict.status.right, verdict.reasons


def test_answers_of_eight_bits_are_compared(judge: Judge, tmp_path: Path) -> None:
    expression = "(x * {}).to(torch.float8_e5m2)"
    verdict = judge(*pair(tmp_path, expression.format(2)))
    assert verdict.status.right, verdict.reasons
    wrong = judge(*pair(tmp_path, expression.format(2), expression.format(3)))
    assert wrong.status is Status.WRONG_VALUE


def test_a_reference_that_rounds_inside_is_no_more_exact_in_float64(
    judge: Judge, tmp_path: Path
) -> None:
    expression = "(x * 1.7).half()"
    verdict = judge(*pair(tmp_path, f"{expression}.float()", f"{expression}.float() * (1 + 5e-5)"))
    assert verdict.status.right, verdict.reasons
    assert not any("finding" in note for note in verdict.notes), verdict.notes


def test_inputs_that_the_reference_refuses_are_not_tried(judge: Judge, tmp_path: Path) -> None:
    """As ``binary_cross_entropy`` refuses what lies outside of 0 to 1."""
    expression = "torch.nn.functional.binary_cross_entropy(x, x.flip(0), reduction='none')"
    verdict = judge(*pair(tmp_path, expression, inputs="torch.rand(64, 64)"))
    assert verdict.status.right, verdict.reasons
