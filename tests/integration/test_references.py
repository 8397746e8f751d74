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


def test_inputs_of_another_size_each_time_are_a_bad_problem(judge: Judge, tmp_path: Path) -> None:
    """The referee wrote past the end of its own memory, and blamed who had copied the reference."""
    rows = "int(torch.randint(1, 5000, ()))"
    verdict = judge(*pair(tmp_path, "x.mean(0) + x.shape[0]", inputs=f"torch.randn({rows}, 64)"))
    assert verdict.status is Status.BAD_PROBLEM
    assert "tensor 0 of what get_inputs() returns is float32" in verdict.reasons[0]


def test_a_rare_draw_of_another_size_is_a_bad_problem_too(judge: Judge, tmp_path: Path) -> None:
    """After what is looked at before there is a solution."""
    rows = "4 if len(calls.append(0) or calls) < 40 else 4000"
    problem, solution = pair(tmp_path, "x.mean(0)", inputs=f"torch.randn({rows}, 64)")
    problem.write_text(problem.read_text().replace("import random", "calls = []"))
    solution.write_text(solution.read_text().replace("import random", "calls = []"))
    judged = [judge(problem, solution) for _ in range(12)]
    assert judged[0].status.right, judged[0].reasons
    assert judged[-1].status is Status.BAD_PROBLEM
    assert "tensor 0" in judged[-1].reasons[0]


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


OTHERS = """
import dataclasses, difflib, types, typing
import torch
from torch.nn.utils.rnn import pack_sequence


class Two(typing.NamedTuple):
    a: object
    b: object


@dataclasses.dataclass
class Options:
    scale: float = 2.0


def doubled(x):
    return x * 2


class Model(torch.nn.Module):
    def __init__(self, *options):
        super().__init__()

    def forward(self, x):
        return {expression} + 1


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return [{init}]
"""


def other(folder: Path, expression: str, inputs: str, init: str) -> tuple[Path, Path]:
    """A problem whose arguments are no mere tensors, and a solution that is a copy of it."""
    problem, solution = folder / "problem.py", folder / "solution.py"
    text = OTHERS.format(expression=expression, inputs=inputs, init=init)
    problem.write_text(text)
    solution.write_text(text.replace("class Model(", "class ModelNew("))
    return problem, solution


@pytest.mark.parametrize(
    ("expression", "inputs", "init", "words"),
    [
        ("x.a * x.b", f"Two({RANDN}, 2)", "", "get_inputs() returns Two, which the file itself"),
        ("x[0].a", f"[Two({RANDN}, 2)]", "", "get_inputs() returns Two, which the file itself"),
        ("x", RANDN, "Options()", "get_init_inputs() returns Options, which the file itself"),
        ("x", RANDN, "{'f': doubled}", "get_init_inputs() returns doubled, which the file itself"),
        ("x", RANDN, "lambda x: x", "get_init_inputs() returns what no other process can have: "),
    ],
)
def test_what_only_the_problems_file_has_is_told_from_what_a_solution_does(
    judge: Judge, tmp_path: Path, expression: str, inputs: str, init: str, words: str
) -> None:
    verdict = judge(*other(tmp_path, expression, inputs, init))
    assert verdict.status is Status.BAD_PROBLEM
    assert words in verdict.reasons[0]
    assert "Return tensors, plain values, tuples, lists and dicts" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("expression", "inputs"),
    [
        ("x[0] * x[1]", f"({RANDN}, torch.randn(()).item())"),
        ("x[0] * float(x[1].sum())", f"({RANDN}, torch.randn(3).numpy())"),
        ("sum(x)", f"[{RANDN}] * (1 + int(torch.rand(()) * 1000))"),
    ],
)
def test_plain_values_that_change_from_draw_to_draw_are_no_solutions_fault(
    judge: Judge, tmp_path: Path, expression: str, inputs: str
) -> None:
    verdict = judge(*other(tmp_path, expression, inputs, ""))
    assert verdict.status is Status.BAD_PROBLEM
    assert "beside tensors, or how many there are, changes from one draw" in verdict.reasons[0]


def test_tensors_that_nobody_reaches_are_no_solutions_fault(judge: Judge, tmp_path: Path) -> None:
    inputs = f"types.SimpleNamespace(v={RANDN})"
    verdict = judge(*other(tmp_path, "x.v * 2", inputs, ""))
    assert verdict.status is Status.BAD_PROBLEM
    assert "a tensor inside of an object, where the judge cannot vary it" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("expression", "inputs"),
    [
        ("x.a * x.b", f"difflib.Match({RANDN}, 2, None)"),
        ("x['m'][0].a * x['m'][0].size", f"{{'m': (difflib.Match({RANDN}, 2, {RANDN}),)}}"),
        ("x.data * 2", "pack_sequence([torch.randn(64), torch.randn(32)])"),
    ],
)
def test_arguments_with_names_are_put_together_again(
    judge: Judge, tmp_path: Path, expression: str, inputs: str
) -> None:
    """``PackedSequence`` has a constructor that looks at what it gets."""
    verdict = judge(*other(tmp_path, expression, inputs, "difflib.Match(1, 2, 3)"))
    assert verdict.status.right, verdict.reasons
