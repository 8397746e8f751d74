"""Items of several formats in one session, judged by the real engine on the CPU."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow

ADD = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs():
    return [torch.randn(64, 48), torch.randn(64, 48)]

def get_init_inputs():
    return []
"""
LINEAR = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.linear = nn.Linear(width, out)

    def forward(self, x):
        return self.linear(x)

def get_inputs():
    return [torch.randn(32, 24)]

def get_init_inputs():
    return [24, 40]
"""
SCALE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(48))

    def forward(self, x):
        return x * self.scale, x.sum(dim=1)

def get_inputs():
    return [torch.randn(64, 48)]

def get_init_inputs():
    return []
"""
NEW = """
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, a, b):
        return {}
"""
OF_PAIR = "def custom_kernel(data):\n    a, b = data\n    return b + a\n"
OF_INPUTS = "def run(x, weight, bias):\n    return x @ weight.T + bias\n"
IN_PLACE = (
    "from inner import scaled\n"
    "def fill(x, scaled_out, sum_out):\n"
    "    scaled_out.copy_(x * 2)\n    sum_out.copy_(scaled(x))\n"
)


def wrong_by_scale() -> str:
    """A solution of three outputs' places that does not know the parameter."""
    sources = [
        {"path": "main.py", "content": IN_PLACE},
        {"path": "inner.py", "content": "def scaled(x):\n    return x.sum(dim=1)\n"},
    ]
    spec = {
        "language": "python",
        "entry_point": "main.py::fill",
        "destination_passing_style": True,
    }
    return json.dumps({
        "name": "x", "definition": "scale", "author": "eve", "spec": spec, "sources": sources,
    })  # fmt: skip


@pytest.fixture
def disk(pytester: pytest.Pytester):
    def write(name: str, text: str) -> None:
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("pytest.toml", '[pytest]\naddopts = ["-p", "no:hypothesispytest"]\n')
    write("KernelBench/level1/1_add_.py", ADD)
    write("KernelBench/level1/2_Linear.py", LINEAR)
    write("KernelBench/level1/10_scale.py", SCALE)
    pytester.disk = write
    return pytester


def test_formats_judged(disk: pytest.Pytester) -> None:
    row = {"level": 1, "problem_id": 1}
    disk.disk("runs/gpt/level_1_problem_1_sample_0_kernel.py", NEW.format("torch.add(b, a)"))
    disk.disk("runs/gpt/level_1_problem_2_sample_0.md", f"Use this:\n```python\n{OF_INPUTS}```\n")
    disk.disk("runs/kit/level_1_problem_1_sample_0_kernel.py", OF_PAIR)
    disk.disk("packed/scale.json", wrong_by_scale())
    disk.disk(
        "rows.jsonl",
        "".join(
            json.dumps(row | {"code": NEW.format(body)}) + "\n"
            for body in ("a + b", "a - b", "a.missing + b")
        )
        + "{broken\n",
    )
    disk.disk(
        "folder/level1/001_add/solution.py",
        "from helper import added\n" + NEW.format("added(a, b)"),
    )
    disk.disk("results/readme.md", "What was found.\n")
    disk.disk("folder/level1/001_add/helper.py", "def added(a, b):\n    return a.add(b)\n")
    result = disk.runpytest_subprocess(
        "runs", "rows.jsonl", "packed", "folder", "--kb-problems=KernelBench", "--kb-device=cpu",
        "--kb-correctness-only", "--kb-seeds=2", "--kb-eval-results=results/eval_results.json",
        "--kb-json=out.jsonl", "-v", timeout=600,
    )  # fmt: skip
    verdicts = {
        plain["nodeid"].partition("::test")[0]: plain
        for plain in map(json.loads, (disk.path / "out.jsonl").read_text().splitlines())
    }
    # What calls the library alone agrees too, and is flagged as no kernel.
    statuses = {
        name: "agrees" if plain["agreed"] else plain["status"] for name, plain in verdicts.items()
    }
    assert statuses == {
        "runs/gpt/level_1_problem_1_sample_0_kernel.py": "agrees",
        "runs/gpt/level_1_problem_2_sample_0.md": "agrees",
        "runs/kit/level_1_problem_1_sample_0_kernel.py": "agrees",
        "rows.jsonl::row1": "agrees",
        "rows.jsonl::row2": "wrong_value",
        "rows.jsonl::row3": "raised",
        "packed/scale.json": "wrong_value",
        "folder/level1/001_add/solution.py": "agrees",
    }
    raised = verdicts["rows.jsonl::row3"]["detail"]
    assert "rows_3.py" in raised
    assert "return a.missing + b" in raised
    notes = verdicts["runs/kit/level_1_problem_1_sample_0_kernel.py"]["notes"]
    assert (
        "adapter custom_kernel: custom_kernel() is called with the inputs as one argument" in notes
    )
    samples = json.loads((disk.path / "results/eval_results_rows_level1.json").read_text())["1"]
    assert [sample["correctness"] for sample in samples] == [True, False, False]
    result.assert_outcomes(passed=5, failed=4)
    result.stdout.fnmatch_lines(["rows.jsonl::row4::answers_a_problem FAILED*"])
