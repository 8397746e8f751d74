"""What people have on disk, each format as a small folder: judged, or told in a sentence what it needs.

The numbers are those of docs/formats.md.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent.parent / "data"
NEW = "class ModelNew: pass\n"
MODEL = "class Model: pass\ndef get_inputs(): return []\ndef get_init_inputs(): return []\n"
RELU = "level1/019_relu"
GEMM = "level2/001_gemm"
BINDS = '#include <torch/extension.h>\nPYBIND11_MODULE(x, m) { m.def("forward", &relu); }\n'
FUNCTION = "def {}(*args): pass\n"


def answer(code: str = NEW) -> str:
    return f"<think>\nclass ModelNew: draft\n</think>\nHere:\n```python\n{code}```\n"


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def packed(**changes: Any) -> str:
    spec = {
        "language": "triton",
        "target_hardware": ["H100"],
        "entry_point": "main.py::run",
        "destination_passing_style": True,
        "dependencies": ["triton"],
    }
    sources = [
        {"path": "main.py", "content": "from inner.part import f\ndef run(x, out): pass\n"},
        {"path": "inner/part.py", "content": "def f(): pass\n"},
    ]
    whole = {"name": "relu_v1", "definition": "relu", "author": "ann", "spec": spec}
    whole["sources"] = sources
    spec.update({k: v for k, v in changes.items() if k in spec or k == "binding"})
    whole.update({k: v for k, v in changes.items() if k in whole})
    return json.dumps(whole)


def multikernel(path: str = "ModelNew.py") -> str:
    return json.dumps(
        {
            "format_version": 1,
            "problem": "relu",
            "entry": {"model": f"{path}::ModelNew"},
            "build": {},
            "sources": [{"path": path, "content": NEW}, {"path": "k/op.cpp", "content": "int x;"}],
        }
    )


@dataclass
class Case:
    files: dict[str, str]
    args: list[str]
    outcomes: dict[str, int]
    says: list[str] = field(default_factory=list)
    """fnmatch patterns of lines of the output, in any order."""
    collects: list[str] = field(default_factory=list)
    """Of node ids, all of them in order; none: not asked."""


CASES = {
    "1 KernelBench run": Case(
        {
            "runs/gpt/level_1_problem_19_sample_0_kernel.py": NEW,
            "runs/gpt/level_1_problem_19_sample_0_prompt.txt": "class ModelNew: write it",
            "runs/gpt/level_2_problem_1_sample_3_kernel.py": NEW,
            "runs/gpt/generation_config.yaml": "a: 1\n",
            "runs/gpt/eval_results.json": "{}",
        },
        ["runs"],
        {"passed": 2},
        collects=[
            f"runs/gpt/level_1_problem_19_sample_0_kernel.py::test_kernel[{RELU}]",
            f"runs/gpt/level_2_problem_1_sample_3_kernel.py::test_kernel[{GEMM}]",
        ],
    ),
    "1 answers of a run": Case(
        {
            "runs/gpt/level_1_problem_19_sample_0.md": answer(),
            "runs/gpt/level_1_problem_19_sample_1.cu": BINDS,
        },
        ["runs"],
        {"passed": 2},
    ),
    "2 level in the folder's name": Case(
        {"runs/opus4_level2_2025/problem_1_kernel.py": NEW, "runs/opus4_level2_2025/summary.json": "{}"},
        ["runs"],
        {"passed": 1},
        collects=[f"runs/opus4_level2_2025/problem_1_kernel.py::test_kernel[{GEMM}]"],
    ),
    "2 no level": Case(
        {f"runs/opus4/problem_{n}_kernel.py": NEW for n in (1, 19, 30)},
        ["runs"],
        {"failed": 1},
        [
            "problem_19_kernel.py is for a problem 19, but nothing tells of which level: name its "
            "folder ..._levelN_..., or give --kb-level N*same holds for others of this folder",
            "  number 19 is in level 1: say which",
        ],
    ),
    "2 level as an option": Case(
        {"runs/opus4/problem_19_kernel.py": NEW},
        ["runs", "--kb-level=1"],
        {"passed": 1},
        collects=[f"runs/opus4/problem_19_kernel.py::test_kernel[{RELU}]"],
    ),
    "3 index": Case(
        {
            "board/solutions/0123456789abcdef0123456789abcdef.py": NEW,
            "board/solutions/00000000000000000000000000000000.py": NEW,
            "board/data.json": json.dumps(
                {
                    "19_ReLU": [
                        {"display_name": "ann", "torch_speedup": 1.5,
                         "file": "0123456789abcdef0123456789abcdef.py"},
                        {"display_name": "bob", "file": "00000000000000000000000000000000.py"},
                        {"display_name": "eve", "file": "../../outside.py"},
                        {"display_name": "tom", "file": "none.py"},
                    ]
                }
            ),
            "outside.py": NEW,
        },
        ["board/data.json"],
        {"passed": 2, "failed": 2},
        ["*outside.py lies outside of the index's folder", "*none.py cannot be read: *"],
    ),  # fmt: skip
    "3 no index": Case(
        {f"solutions/{digit * 32}.py": NEW for digit in "0123"},
        ["solutions"],
        {"failed": 1},
        ["00000000000000000000000000000000.py defines a solution*--kb-problem FILE; the same*"],
    ),
    "4 defines the problem again": Case(
        {"solutions/ann/level1/019_relu.py": MODEL + NEW},
        ["solutions", "--kb-json=out.jsonl"],
        {"passed": 1},
    ),
    "4 a lone file, not trusted": Case(
        {"lone/kernel.py": MODEL + NEW}, ["lone"], {"failed": 1}, ["*--kb-problem FILE*"]
    ),
    "4 a lone file, trusted": Case(
        {"lone/kernel.py": MODEL + NEW},
        ["lone/kernel.py", "--kb-problem=lone/kernel.py"],
        {"passed": 1},
        collects=["lone/kernel.py::test_kernel[level0/001_kernel]"],
    ),
    "4 cases in the file": Case(
        {"lone/answer.md": "```python\ndef get_cases(): return []\n```\n"},
        ["lone"],
        {"failed": 1},
        ["the answer holds one block of code, but no ModelNew is defined*"],
    ),
    "5 task folders": Case(
        {
            "hard/01_softmax/reference.py": MODEL + "N = 4\n",
            "hard/01_softmax/solution.py": MODEL,
            "hard/01_softmax/shapes.py": "SHAPES = [{'N': 8}]\n",
            "hard/01_softmax/check.py": "raise SystemExit('run')",
            "hard/01_softmax/benchmark.py": "raise SystemExit('run')",
            "hard/01_softmax/test_mine.py": "raise SystemExit('run')",
            "hard/01_softmax/problem.yaml": "",
            "hard/01_softmax/PROMPT.txt": "Write class ModelNew",
            "hard/02_kda.solution.py.txt": MODEL,
        },
        ["hard", "--kb-problems=hard"],
        {"passed": 1, "failed": 1},
        ["02_kda.solution.py.txt*is for a problem 2, but nothing tells of which level*"],
    ),
    "5 task folders that nobody trusts": Case(
        {"hard/01_softmax/reference.py": MODEL, "hard/01_softmax/solution.py": MODEL},
        ["hard"],
        {"failed": 1},
        ["*hard/01_softmax/reference.py lies beside it; its author may have chosen easy inputs*"],
    ),
    "6 attempts": Case(
        {
            "sandbox/relu_v1/reference.py": FUNCTION.format("run"),
            "sandbox/relu_v1/candidate.py": FUNCTION.format("run"),
            "sandbox/relu_v1/harness.py": FUNCTION.format("main"),
            "sandbox/relu_v1/scratch_1.py": NEW,
            "sandbox/relu_v1/test_debug.py": "raise SystemExit('run')",
            "sandbox/relu_v1/inductor_baseline_us.json": "{}",
            "sandbox/relu_v1/task.md": "# write ModelNew",
        },
        ["sandbox", "--kb-problem=problems/level1/019_relu.py"],
        {"passed": 1},
    ),
    "7 kernelbot": Case(
        {
            "sub/correct/submission.py": "#!POPCORN leaderboard relu\n" + FUNCTION.format("custom_kernel"),
            "sub/correct/task.yml": "",
            "sub/wrong/other.py": "#!POPCORN leaderboard sort\n" + FUNCTION.format("custom_kernel"),
        },
        ["sub/correct", "sub/wrong"],
        {"passed": 1, "failed": 1},
        ["*other.py defines a solution, but its path does not tell to which problem*"],
    ),
    "8 C++ submissions": Case(
        {"sub/submission.cu": "//!POPCORN leaderboard relu\nvoid custom_kernel(int x) {}\n"},
        ["sub"],
        {"failed": 1},
        ["not supported: a C++ custom_kernel that a program of another benchmark calls*"],
    ),
    "9 Solution JSON": Case(
        {"sol/relu_v1.json": packed(), "sol/config.json": "{}"}, ["sol"], {"passed": 1}
    ),
    "9 Solution JSON, named": Case({"relu_v1.json": packed()}, ["relu_v1.json"], {"passed": 1}),
    "9 unsafe path": Case(
        {"a.json": packed(sources=[{"path": "../main.py", "content": ""}])},
        ["a.json"],
        {"failed": 1},
        ["source 1 is refused: '../main.py' leads out of the solution's folder"],
    ),
    "9 tvm-ffi": Case(
        {"a.json": packed(language="cuda", binding="tvm-ffi")},
        ["a.json"],
        {"failed": 1},
        ["binding 'tvm-ffi' is not supported*"],
    ),
    "9 starter kit": Case(
        {
            "kit/config.toml": '[solution]\nname = "x"\ndefinition = "relu"\nauthor = "ann"\n'
            '[build]\nlanguage = "triton"\nentry_point = "kernel.py::kernel"\n',
            "kit/solution/triton/kernel.py": FUNCTION.format("kernel"),
        },
        ["kit"],
        {"passed": 1},
    ),
    "10 sources in JSON": Case({"a.json": multikernel()}, ["a.json"], {"passed": 1}),
    "11 answers": Case(
        {
            "gpt/relu.txt": answer(),
            "gpt/gemm.md": answer(),
            "gpt/tanh.txt": "I cannot do that.",
            "gpt/README.md": "# Answers",
        },
        ["gpt"],
        {"passed": 2, "failed": 1},
        ["the answer holds no code: it has no fenced block, and as a whole it is no Python"],
    ),
    "12 pybind beside its reference": Case(
        {
            "linear/k1/kernel.cu": BINDS,
            "linear/k1/func_forward.py": MODEL,
            "linear/k1/config_forward.json": json.dumps(
                {"single_input_configs": [{"n": 4}], "multi_input_configs": [{"n": 8}, {"n": 16}]}
            ),
            "linear/k1/backward.cu": BINDS.replace("forward", "backward"),
        },
        ["linear/k1/kernel.cu", "--kb-problem=linear/k1/func_forward.py"],
        {"passed": 1},
    ),
    "12 binds something else": Case(
        {"x/backward.cu": BINDS.replace("forward", "backward")},
        ["x"],
        {"failed": 1},
        ["binds backward but no function called forward, which would be called: bind one"],
    ),
    "15 JSON Lines called .json": Case(
        {
            "cuda_l1.json": lines(
                {"level_id": 1, "task_id": 19, "ref_code": MODEL, "custom_code": NEW},
                {"level_id": 1, "task_id": 30, "ref_code": MODEL, "custom_code": None},
                {"level_id": 2, "task_id": 1, "ref_code": MODEL, "custom_code": NEW},
            )
        },
        ["cuda_l1.json"],
        {"passed": 2},
        collects=[
            f"cuda_l1.json::row1::test_kernel[{RELU}]",
            f"cuda_l1.json::row3::test_kernel[{GEMM}]",
        ],
    ),
    "15 levels of lists": Case(
        {"a.json": json.dumps({"level_1": [{"task_id": 19, "custom_code": NEW}], "level_2": []})},
        ["a.json"],
        {"passed": 1},
    ),
    "15 the rows' own references, on request": Case(
        {
            "a.json": lines(
                {"level_id": 3, "task_id": 7, "ref_code": MODEL, "custom_code": NEW},
                {"level_id": 3, "task_id": 8, "ref_code": "x = 1", "custom_code": NEW},
            )
        },
        ["a.json", "--kb-problems=a.json"],
        {"passed": 1, "failed": 1},
        [
            "kernelbench: *a.json:2: it defines no Model and no get_inputs; no problem is taken*",
            "*a row was passed over: *a.json:2:*",
        ],
    ),
    "16 index of runs": Case(
        {
            "runs.jsonl": lines(
                {"id": "r1", "model": "ann", "problem": "19_relu"},
                {"id": "r2", "model": "bob", "problem": "19_relu"},
            ),
            "runs/r1/solution.py": MODEL,
            "runs/r1/transcript.jsonl": "{}\n",
            "runs/r1/result.json": "{}",
        },
        ["runs.jsonl"],
        {"passed": 1, "failed": 1},
        ["no column holds source: it has id, model, problem; looked for *"],
    ),
    "17 BackendBench": Case(
        {"generated_kernels/add__Tensor/add__Tensor_implementation_v1.py": FUNCTION.format("k")},
        ["generated_kernels"],
        {"failed": 1},
        ["replaces the operator add.Tensor (BackendBench): not a KernelBench solution*"],
    ),
    "18 package of sources": Case(
        {
            "agent_workdir/model.py": MODEL,
            "agent_workdir/model_new.py": "from kernels.ops import relu\n" + NEW,
            "agent_workdir/kernels/ops.py": "def relu(): pass\n",
            "agent_workdir/kernels/relu.cu": BINDS,
        },
        ["agent_workdir", "--kb-problem=agent_workdir/model.py"],
        {"passed": 1},
        collects=["agent_workdir/model_new.py::test_kernel[level0/001_agent_workdir]"],
    ),
    "18 in the tree of entrants": Case(
        {
            "solutions/ann/level1/019_relu/solution.py": NEW,
            "solutions/ann/level1/019_relu/ops.cu": BINDS,
        },
        ["solutions"],
        {"passed": 1},
        collects=[f"solutions/ann/level1/019_relu/solution.py::test_kernel[{RELU}]"],
    ),
    "19 several ranks": Case(
        {"par/relu.py": "import torch.distributed\ndef solution(tensor): pass\n"},
        ["par"],
        {"skipped": 1},
        ["*needs N devices and torch.distributed*"],
    ),
    "20 another DSL": Case(
        {"solutions/ann/level1/019_relu.py": "# fake: missing\nimport tilelang\n" + NEW},
        ["solutions"],
        {"skipped": 1},
        ["*module tilelang is not installed here*"],
    ),
    "flat names": Case(
        {
            "flat/l1_p19.py": NEW,
            "flat/level2_1_attempt2.py": NEW,
            "flat/gemm.py": NEW,
            "flat/19_ReLU.cu": BINDS,
            "flat/1_30_s4.py": NEW,
        },
        ["flat"],
        {"passed": 4, "failed": 1},
        [],
    ),
}  # fmt: skip


@pytest.fixture
def disk(tree):
    """Problems 1/19, 1/30 and 2/1, and nothing to answer them yet."""
    for name in (RELU, "level1/030_softsign", GEMM):
        tree.write(f"problems/{name}.py", MODEL)
    return tree


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_format(disk, case: Case) -> None:
    for name, text in case.files.items():
        disk.write(name, text)
    quiet = ("-W", "ignore::pytest_kernelbench.collection.NotRunWarning")
    result = disk.run(*case.args, "-rs", *quiet)
    result.assert_outcomes(**case.outcomes)
    for pattern in case.says:
        result.stdout.fnmatch_lines([pattern])
    if case.collects:
        listed = disk.run("--collect-only", "-q", *case.args, *quiet)
        assert [line for line in listed.outlines if "::" in line] == case.collects
    assert "INTERNALERROR" not in result.stdout.str()
