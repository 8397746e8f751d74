"""``--kb-shapes``: a kernel that claims to be general is judged at other sizes too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from judged import Judge, judging

from pytest_kernelbench.errors import ProblemError
from pytest_kernelbench.judge.sizes import other_sizes
from pytest_kernelbench.verdict import Status

OURS = Path(__file__).parents[2] / "problems"
PROBLEM = """
import torch
N, WIDTH = 64, 48
SMOKE = {"N": 32}
SHAPES = [{"N": 7}, {"N": 33, "WIDTH": 5}]

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(width) + 0.5)
    def forward(self, x):
        return x * self.scale
def get_inputs():
    return [torch.randn(N, WIDTH)]
def get_init_inputs():
    return [WIDTH]
"""
SOLUTION = PROBLEM.partition("class Model")[2].partition("def get_inputs")[0]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    with judging(tmp_path, shapes=True) as made:
        yield made


def solution(forward: str) -> str:
    body = SOLUTION.replace("return x * self.scale", forward)
    return f"import torch\nclass ModelNew{body}"


def test_every_size_is_judged(judge: Judge, write: Callable[..., Path]) -> None:
    problem = write("problem.py", PROBLEM)
    general = judge(problem, write("general.py", solution("return self.scale * x")))
    assert general.agreed
    assert "N=7: 2 rounds agree" in general.notes
    assert "N=33, WIDTH=5: 2 rounds agree" in general.notes
    even = "assert x.shape[0] % 2 == 0; return x * self.scale"
    picky = judge(problem, write("picky.py", solution(even)))
    assert picky.status is Status.RAISED
    assert not picky.agreed
    assert picky.reasons[0].endswith("(at another size: N=7)")
    narrow = "out = x * self.scale; out[..., 5:] = out[..., 5:] * (x.shape[0] != 7); return out"
    wrong = judge(problem, write("wrong.py", solution(narrow)))
    assert wrong.status is Status.WRONG_VALUE
    assert "(at another size: N=7)" in wrong.reasons[0]


def test_a_size_at_which_the_problem_fails_is_nobodys_fault(
    judge: Judge, write: Callable[..., Path]
) -> None:
    text = PROBLEM.replace('{"N": 7}', '{"N": "seven"}')
    verdict = judge(write("problem.py", text), write("s.py", solution("return self.scale * x")))
    assert verdict.agreed, verdict.reasons
    assert any(note.startswith("N=seven: not judged: ") for note in verdict.notes)
    assert "N=33, WIDTH=5: 2 rounds agree" in verdict.notes


def test_a_finding_at_another_size_is_told_with_it(
    judge: Judge, write: Callable[..., Path]
) -> None:
    problem = write("problem.py", PROBLEM.replace('SMOKE = {"N": 32}\n', ""))
    # Foreign now: what families find is a finding. No draw of the problem's own is below -6.
    wrong = (
        "return torch.where(x < -15, x + 1, x) * self.scale if x.shape[0] == 33 else x * self.scale"
    )
    verdict = judge(problem, write("s.py", solution(wrong)))
    assert verdict.agreed, verdict.reasons
    assert any(
        note.startswith("N=33, WIDTH=5: finding: wrong or of lower precision for large inputs")
        for note in verdict.notes
    )
    assert not any(note.startswith("N=7: finding") for note in verdict.notes)


NESTED = """
import torch
SETTING = {"size": 8, "scales": [1.5, 2.0], "mask": None}
SHAPES = [{"SETTING": {"size": 5, "scales": [0.5, 4.0], "mask": None}}]

class Model(torch.nn.Module):
    def forward(self, x):
        return x * SETTING["scales"][0] + SETTING["scales"][1]
def get_inputs():
    return [torch.randn(SETTING["size"], 16)]
"""
GENERAL = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x * 1.5 + 2.0 if x.shape[0] == 8 else x * 0.5 + 4.0
"""


def test_constants_of_any_plain_kind(judge: Judge, write: Callable[..., Path]) -> None:
    """As settings of other tools are: a mapping, lists and nothing in it."""
    verdict = judge(write("problem.py", NESTED), write("s.py", GENERAL))
    assert verdict.agreed, verdict.reasons
    (note,) = [note for note in verdict.notes if note.startswith("SETTING=")]
    assert note.endswith(": 2 rounds agree")


def test_sizes_are_read_and_not_run(write: Callable[..., Path]) -> None:
    path = write("p.py", "raise SystemExit\nSHAPES = [1]\nSHAPES = [{'N': 3}, {'A': [1, 2]}]\n")
    with pytest.raises(ProblemError, match=r"p\.py:2: SHAPES is no list of mappings"):
        other_sizes(path)
    path.write_text("raise SystemExit\nSHAPES = [{'N': 3}, {'A': [1, 2]}]\n")
    assert other_sizes(path) == {"shape0": "N=3", "shape1": "A=[1, 2]"}
    assert other_sizes(write("q.py", "N = 1\n")) == {}


@pytest.mark.parametrize(
    "text",
    ["SHAPES: list = [{'N': 3}]\n", "SHAPES: list\nSHAPES = [{'N': 3}]\n",
     "OTHERS = SHAPES = [{'N': 3}]\nN = SHAPES[0]['N']\n",
     "SHAPES = [{'N': 3}]\ndef get_inputs():\n    return list(SHAPES)\n"],
    ids=["annotated", "declared", "two names", "read"],
)  # fmt: skip
def test_every_plain_assignment_is_read(write: Callable[[str, str], Path], text: str) -> None:
    assert other_sizes(write("p.py", text)) == {"shape0": "N=3"}


def test_values_may_be_written_with_operators(write: Callable[[str, str], Path]) -> None:
    """As a problem's constants may be: one of our own problems was refused for it."""
    path = write("p.py", "SHAPES = [{'N': [64] * 3, 'M': 1 << 5}]\n")
    assert other_sizes(path) == {"shape0": "N=[64, 64, 64], M=32"}
    for text in ("[{'N': open('x')}]", "[{'N': M}]", "[{'N': 1 / 0}]", "[*'ab']", "3"):
        path.write_text(f"SHAPES = {text}\n")
        with pytest.raises(ProblemError, match=r"p\.py:1: "):
            other_sizes(path)


def test_the_sizes_of_our_own_problems_can_be_read() -> None:
    declared = {path for path in OURS.rglob("*.py") if "\nSHAPES" in path.read_text("utf-8")}
    assert len(declared) > 1
    assert all(other_sizes(path) for path in declared)


@pytest.mark.parametrize(
    "text",
    ["SHAPES += [{'N': 4}]", "SHAPES.append({'N': 4})", "SHAPES[0]['N'] = SHAPES[0] = 4",
     "SHAPES, N = [{'N': 4}], 1", "for SHAPES in [[{'N': 4}]]: pass", "from shapes import SHAPES",
     "import shapes as SHAPES", "def SHAPES(): pass", "if True: SHAPES = [{'N': 4}]",
     "(SHAPES := [{'N': 4}])", "del SHAPES"],
)  # fmt: skip
def test_sizes_that_are_made_in_another_way_are_not_left_out(
    write: Callable[[str, str], Path], text: str
) -> None:
    with pytest.raises(ProblemError, match=r"p\.py:2: .*in one assignment"):
        other_sizes(write("p.py", f"SHAPES = [{{'N': 3}}]\n{text}\n"))
