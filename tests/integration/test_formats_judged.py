"""Items of every format in one session, judged by the real engine on the CPU.

The numbers are those of docs/formats.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
TRITON_AND_INLINE = (
    Path(__file__).parents[1] / "data/cases/reports/F2-triton-needs-a-file/solutions.jsonl"
)
PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self{init}):
        super().__init__()
        {made}

    def forward(self, {inputs}):
        return {body}

def get_inputs():
    return [{drawn}]

def get_init_inputs():
    return [{given}]
"""


def problem(inputs: str, body: str, drawn: str, **more: str) -> str:
    filled = {"init": "", "made": "pass", "given": ""} | more
    return PROBLEM.format(inputs=inputs, body=body, drawn=drawn, **filled)


DRAWN = "torch.randn(64, 48)"
ADD = problem("a, b", "a + b", f"{DRAWN}, {DRAWN}")
RELU = problem("x", "torch.relu(x)", DRAWN)
LINEAR = problem(
    "x", "self.linear(x)", "torch.randn(32, 24)", init=", width, out",
    made="self.linear = nn.Linear(width, out)", given="24, 40",
)  # fmt: skip
SCALE = problem(
    "x", "x * self.scale, x.sum(dim=1)", DRAWN, made="self.scale = nn.Parameter(torch.randn(48))"
)
FUNCTIONAL = problem("x, fn=torch.relu", "fn(x)", DRAWN)
BOUND = """
#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x) {{ return {body}; }}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""
IN_PLACE = (
    "from inner import summed\n"
    "def fill(x, scaled_out, sum_out):\n"
    "    scaled_out.copy_(x * 2)\n    sum_out.copy_(summed(x))\n"
)
WITH_LOAD = """
import os
import torch
from torch.utils.cpp_extension import load
from helper import again

here = os.path.dirname(os.path.abspath(__file__))
ops = load("ops", [os.path.join(here, "kernels/ops.cpp")])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return again(ops.forward(x))
"""


def new(inputs: str, body: str, name: str = "ModelNew") -> str:
    text = (
        f"class {name}(torch.nn.Module):\n    def forward(self, {inputs}):\n        return {body}\n"
    )
    return f"import torch\n\n{text}"


def packed(source: str, name: str, files: dict[str, str], **spec: Any) -> str:
    return json.dumps({
        "name": "x", "definition": name, "author": "packer",
        "spec": {"language": "python", "entry_point": source} | spec,
        "sources": [{"path": path, "content": text} for path, text in files.items()],
    })  # fmt: skip


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


HASH = "0123456789abcdef0123456789abcdef"
FILES = {
    # A checkout of KernelBench with its runs, as it is.
    "KernelBench/KernelBench/level1/1_add_.py": ADD,
    "KernelBench/KernelBench/level1/19_ReLU.py": RELU,
    "KernelBench/KernelBench/level1/30_Linear.py": LINEAR,
    "KernelBench/runs/gpt/level_1_problem_1_sample_0_kernel.py": new("a, b", "torch.add(b, a)"),
    "KernelBench/runs/gpt/level_1_problem_1_sample_1_kernel.py": new("a, b", "a - b"),
    "KernelBench/runs/gpt/level_1_problem_19_sample_0_kernel.py": new("x", "x.missing"),
    "KernelBench/runs/gpt/level_1_problem_30_sample_0.md": "Use this:\n```python\n"
    "def run(x, weight, bias):\n    return x @ weight.T + bias\n```\n",
    "KernelBench/runs/gpt/generation_config.yaml": "model: gpt\n",
    "KernelBench/runs/opus_level1_x/problem_1_kernel.py": new("a, b", "b + a"),
    "board/data.json": json.dumps({"19_ReLU": [{"display_name": "ann", "file": f"{HASH}.py"}]}),
    f"board/solutions/{HASH}.py": RELU + new("x", "x.clamp(min=0)"),
    "hard/02_scale/reference.py": SCALE,
    "hard/02_scale/solution.py": SCALE.replace("x.sum(dim=1)", "x.sum(1)"),
    "hard/02_scale/check.py": "raise SystemExit('run')",
    "sandbox/relu_v1/reference.py": "def run(x): pass\n",
    "sandbox/relu_v1/candidate.py": "def run(x):\n    return x * (x > 0)\n",
    "bot/sum_py/reference.py": "import torch\nfrom task import input_t, output_t\n"
    "from utils import matching\n"
    "def generate_input(size: int, seed: int) -> input_t:\n"
    "    made = torch.Generator().manual_seed(seed)\n"
    "    return torch.randn(size, 32, generator=made), torch.randn(32, generator=made)\n"
    "def ref_kernel(data: input_t) -> output_t:\n    x, y = data\n    return (x + y).sum(dim=1)\n"
    "check_implementation = matching(ref_kernel)\n",
    "bot/sum_py/task.py": "import torch\ninput_t = tuple\noutput_t = torch.Tensor\n",
    "bot/utils.py": "def matching(function): return function\n",
    "bot/sum_py/task.yml": "tests:\n  - {size: 16, seed: 1}\n"
    "benchmarks:\n  - {size: 64, seed: 2}\n",
    "bot/sum_py/submission.py": "#!POPCORN leaderboard sum\nfrom task import input_t, output_t\n"
    "def custom_kernel(data: input_t) -> output_t:\n    x, y = data\n"
    "    return x.sum(dim=1) + y.sum()\n",
    "bot/sum_py/solutions/wrong/x.py": "#!POPCORN leaderboard sum\nfrom task import input_t\n"
    "def custom_kernel(data: input_t):\n    return data[0].sum(dim=1)\n",
    "packed/scale.json": packed(
        "main.py::fill", "scale",
        {"main.py": IN_PLACE, "inner.py": "def summed(x):\n    return x.sum(dim=1)\n"},
        destination_passing_style=True,
    ),
    "packed/relu.json": json.dumps({
        "format_version": 1, "problem": "relu", "entry": {"model": "ModelNew.py::ModelNew"},
        "build": {}, "sources": [{"path": "ModelNew.py", "content": new("x", "x.relu()")}],
    }),
    "cpp/19_ReLU.cpp": BOUND.format(body="x.clamp_min(0)"),
    "folder/level1/019_relu/solution.py": WITH_LOAD,
    "folder/level1/019_relu/helper.py": "def again(x):\n    return x\n",
    "folder/level1/019_relu/kernels/ops.cpp": '#include "ops.h"\n' + BOUND.format(body="relu_(x)"),
    "folder/level1/019_relu/kernels/ops.h": "#include <torch/extension.h>\n"
    "inline torch::Tensor relu_(torch::Tensor x) { return x.relu(); }\n",
    "cuda_l1.json": lines(
        {"level_id": 1, "task_id": 1, "ref_code": ADD, "custom_code": new("a, b", "a + b")},
        {"level_id": 1, "task_id": 19, "ref_code": ADD, "custom_code": None},
        {"level_id": 1, "task_id": 19, "custom_code": new("x", "x.relu()").replace("x.", "x._")},
    ) + "{broken\n",
    "runs.jsonl": lines({"id": "r1", "model": "tom", "problem": "1/19"}),
    "runs/r1/solution.py": new("x", "torch.relu(x)", "Model"),
    "ops/add__Tensor/add__Tensor_implementation_v1.py": "def add__Tensor_kernel_impl(): pass\n",
    "ranks/relu.py": "import torch.distributed\ndef solution(tensor): pass\n",
    "dsl/l1_p19.py": "import helion\n" + new("x", "x"),
}  # fmt: skip
ARGUMENTS = (
    "KernelBench/runs", "board/data.json", "hard", "sandbox", "bot/sum_py",
    "bot/sum_py/solutions/wrong", "packed", "cpp", "folder", "cuda_l1.json", "engineer.parquet",
    "subs.parquet", "runs.jsonl", "f2.jsonl", "ops", "ranks", "dsl",
    "--kb-problems=KernelBench", "--kb-problems=hard", "--kb-problems=bot",
)  # fmt: skip
AGREES = "agrees"  # whether it is fast or no kernel at all
STATUSES = {
    "KernelBench/runs/gpt/level_1_problem_1_sample_0_kernel.py": AGREES,
    "KernelBench/runs/gpt/level_1_problem_1_sample_1_kernel.py": "wrong_value",
    "KernelBench/runs/gpt/level_1_problem_19_sample_0_kernel.py": "raised",
    "KernelBench/runs/gpt/level_1_problem_30_sample_0.md": AGREES,
    "KernelBench/runs/opus_level1_x/problem_1_kernel.py": AGREES,
    "board/data.json::row1": AGREES,
    "hard/02_scale/solution.py": AGREES,
    "sandbox/relu_v1/candidate.py": AGREES,
    "bot/sum_py/submission.py": AGREES,
    "bot/sum_py/solutions/wrong/x.py": "wrong_value",
    "packed/scale.json": "wrong_value",
    "packed/relu.json": AGREES,
    "cpp/19_ReLU.cpp": AGREES,
    "folder/level1/019_relu/solution.py": AGREES,
    "cuda_l1.json::row1": AGREES,
    "cuda_l1.json::row3": "raised",
    "engineer.parquet::row1": AGREES,
    "subs.parquet::row1": AGREES,
    "runs.jsonl::row1": AGREES,
    "f2.jsonl::row1": AGREES,  # Triton's interpreter
    "f2.jsonl::row2": AGREES,
    "dsl/l1_p19.py": "skipped",
}


@dataclass
class Session:
    folder: Path
    output: str

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """By node id, without the test's own name."""
        plain = (self.folder / "results/v.jsonl").read_text().splitlines()
        records = (record for record in map(json.loads, plain) if "status" in record)
        return {record["nodeid"].partition("::test_")[0]: record for record in records}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Everything on one disk, judged once: the folder, the output and the verdicts."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow, the extra [parquet], is missing")
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("formats")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    rows = {
        "engineer.parquet": {
            "Level_ID": [1], "Task_ID": [19], "Op_Name": ["19_ReLU"], "Correct": [True],
            "CUDA_Code": [BOUND.format(body="x * (x > 0)")],
            "PyTorch_Code_Functional": [FUNCTIONAL],
        },
        "subs.parquet": {
            "submission_id": [5], "problem_name": ["sum"], "file_name": ["a.py"], "passed": [True],
            "code": [FILES["bot/sum_py/submission.py"]],
        },
    }  # fmt: skip
    for name, columns in rows.items():
        parquet.write_table(pyarrow.table(columns), folder / name)
    text = TRITON_AND_INLINE.read_text()
    (folder / "f2.jsonl").write_text(text.replace("problem.py", "1/1"))
    (folder / "pytest.toml").write_text('[pytest]\naddopts = ["-p", "no:hypothesispytest"]\n')
    (folder / "results").mkdir()
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", *ARGUMENTS, "-v", "-rs", "--kb-device=cpu",
            "--kb-correctness-only", "--kb-seeds=1", "--kb-expect-failure=wrong",
            "--kb-json=results/v.jsonl", "--kb-eval-results=results/eval_results.json",
        ],
        cwd=folder, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    return Session(folder, done.stdout + done.stderr)


def test_each_ends_as_its_format_wants(session: Session) -> None:
    told = {
        name: AGREES if plain["agreed"] else plain["status"]
        for name, plain in session.verdicts.items()
    }
    assert told == STATUSES, session.output


def test_what_is_no_item_of_ours_is_told_in_one_sentence(session: Session) -> None:
    for sentence in (
        "replaces the operator add.Tensor (BackendBench): not a KernelBench solution",
        "needs N devices and torch.distributed",
        "cuda_l1.json:4: no JSON: ",
        "environment: module helion missing",
    ):
        assert sentence in session.output
    assert "INTERNALERROR" not in session.output
    assert "3 of the solutions cannot be paired" in session.output


@pytest.mark.parametrize(
    ("name", "note"),
    [
        (
            "KernelBench/runs/gpt/level_1_problem_30_sample_0.md",
            "adapter run: run() is called with",
        ),
        ("KernelBench/runs/gpt/level_1_problem_30_sample_0.md", "code from lines 3 to 4 of the"),
        ("board/data.json::row1", "its own Model, get_inputs, get_init_inputs are not used"),
        ("bot/sum_py/submission.py", "adapter custom_kernel: custom_kernel() is called with the"),
        ("packed/scale.json", "adapter destination: main.py::fill() is called with the inputs and"),
        ("packed/relu.json", "adapter package: ModelNew.py::ModelNew, with its files laid out"),
        ("cpp/19_ReLU.cpp", "adapter pybind: forward() is called with the inputs"),
        ("engineer.parquet::row1", "adapter fn: forward() is handed to its own Model's forward"),
        ("f2.jsonl::row2", "from f2.jsonl:2"),
    ],
)
def test_the_verdict_names_the_adapter(session: Session, name: str, note: str) -> None:
    assert any(told.startswith(note) for told in session.verdicts[name]["notes"])


def test_a_row_has_a_file_with_its_lines(session: Session) -> None:
    """F2: at a stable place, kept, and shown in tracebacks."""
    raised = session.verdicts["cuda_l1.json::row3"]["detail"]
    assert "cuda_l1_3.py" in raised
    assert "return x._relu()" in raised
    made = Path(session.verdicts["f2.jsonl::row2"]["solution"])
    assert made.is_relative_to(session.folder / ".kernelbench/sources")
    assert "load_inline" in made.read_text()


def test_kernelbench_reads_the_results_of_its_own_run(session: Session) -> None:
    results = json.loads((session.folder / "results/eval_results_gpt_level1.json").read_text())
    assert [(n, [s["correctness"] for s in samples]) for n, samples in results.items()] == [
        ("1", [True, False]),
        ("19", [False]),
        ("30", [True]),
    ]
    wrong, raised = results["1"][1]["metadata"], results["19"][0]["metadata"]
    assert wrong["correctness_issue"].startswith("Output mismatch: ")
    assert "missing" in raised["runtime_error"] + raised["runtime_error_traceback"]
    assert all(sample["compiled"] for samples in results.values() for sample in samples)
