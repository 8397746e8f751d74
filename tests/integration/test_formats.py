"""What people have on disk, each format as a small folder: judged, or told what it needs.

The numbers are those of docs/formats.md.
"""

from __future__ import annotations

import json
import re
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
        {
            "runs/opus4_level2_2025/problem_1_kernel.py": NEW,
            "runs/opus4_level2_2025/summary.json": "{}",
        },
        ["runs"],
        {"passed": 1},
        collects=[f"runs/opus4_level2_2025/problem_1_kernel.py::test_kernel[{GEMM}]"],
    ),
    "2 no level": Case(
        {f"runs/opus4/problem_{n}_kernel.py": NEW for n in (1, 19, 30)},
        ["runs"],
        {"failed": 1},
        [
            "problem_19_kernel.py is for a problem 19, but nothing tells of which level: *",
            "*or give --kb-level N*; the same holds for others of this folder",
            "      number 19 is in level 1: say which",
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
                        {
                            "display_name": "ann",
                            "torch_speedup": 1.5,
                            "file": "0123456789abcdef0123456789abcdef.py",
                        },
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
    ),
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
    "3 problems in one folder": Case(
        {
            "board/problems/l1_p7.py": MODEL,
            "board/solutions/0123456789abcdef0123456789abcdef.py": NEW,
            "board/data.json": json.dumps(
                {
                    "level1/7": [
                        {"display_name": "ann", "file": "0123456789abcdef0123456789abcdef.py"}
                    ]
                }
            ),
        },
        ["board/data.json", "--kb-problems=board/problems"],
        {"passed": 1},
        collects=["board/data.json::row1::test_kernel[level1/007_problem_7]"],
    ),
    "4 cases in the file": Case(
        {"lone/answer.md": "```python\ndef get_cases(): return []\n```\n"},
        ["lone"],
        {"failed": 1},
        ["*: the answer holds one block of code, but no ModelNew is defined*"],
    ),
    "4 cases beside the solution": Case(
        {"lone/kernel.py": "def get_cases(): return []\n" + NEW},
        ["lone", "--kb-problem=problems/level1/019_relu.py"],
        {"passed": 1},
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
            "sub/correct/submission.py": "#!POPCORN leaderboard relu\n"
            + FUNCTION.format("custom_kernel"),
            "sub/correct/task.yml": "",
            "sub/wrong/other.py": "#!POPCORN leaderboard sort\n" + FUNCTION.format("custom_kernel"),
        },
        ["sub/correct", "sub/wrong"],
        {"passed": 1, "failed": 1},
        ["*other.py defines a solution, but its path does not tell to which problem*"],
    ),
    "7 the task itself": Case(
        {
            "relu_py/reference.py": "from task import input_t\n"
            + FUNCTION.format("ref_kernel")
            + "def generate_input(size, seed): pass\n",
            "relu_py/task.py": "input_t = object\n",
            "relu_py/task.yml": "tests:\n  - {size: 3, seed: 1}\n",
            "relu_py/eval.py": "raise SystemExit('run')",
            "relu_py/submission.py": "#!POPCORN leaderboard relu\nfrom task import input_t\n"
            + FUNCTION.format("custom_kernel"),
        },
        ["relu_py", "--kb-problem=relu_py/reference.py"],
        {"passed": 1},
        collects=["relu_py/submission.py::test_kernel[level0/001_relu]"],
    ),
    "8 C++ submissions": Case(
        {"sub/submission.cu": "//!POPCORN leaderboard relu\nvoid custom_kernel(int x) {}\n"},
        ["sub"],
        {"failed": 1},
        ["*: not supported: a C++ custom_kernel that a program of another benchmark calls*"],
    ),
    "9 Solution JSON": Case(
        {"sol/relu_v1.json": packed(), "sol/config.json": "{}"}, ["sol"], {"passed": 1}
    ),
    "9 Solution JSON, named": Case({"relu_v1.json": packed()}, ["relu_v1.json"], {"passed": 1}),
    "9 unsafe path": Case(
        {"a.json": packed(sources=[{"path": "../main.py", "content": ""}])},
        ["a.json"],
        {"failed": 1},
        ["*: source 1 is refused: '../main.py' leads out of the solution's folder"],
    ),
    "9 tvm-ffi": Case(
        {"a.json": packed(language="cuda", binding="tvm-ffi")},
        ["a.json"],
        {"failed": 1},
        ["*: binding 'tvm-ffi' is not supported*"],
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
        ["*: the answer holds no code: it has no fenced block, and as a whole it is no Python"],
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
        ["*: binds backward but no function called forward, which would be called: bind one"],
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
        ["*: no column holds source: it has id, model, problem; looked for *"],
    ),
    "17 BackendBench": Case(
        {"generated_kernels/add__Tensor/add__Tensor_implementation_v1.py": FUNCTION.format("k")},
        ["generated_kernels"],
        {"failed": 1},
        ["*: replaces the operator add.Tensor (BackendBench): not a KernelBench solution*"],
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
}


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


ELSEWHERE = {"13": "test_formats_judged.py", "14": "test_formats_judged.py"}
"""Parquet files are written there."""
FROM_PROGRAMS = "21"


def test_every_row_of_the_docs_is_a_case() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9]+) \|", docs, re.MULTILINE)
    assert rows == [str(number) for number in range(1, 22)]
    cases = {name.partition(" ")[0] for name in CASES}
    assert set(rows) - cases == {*ELSEWHERE, FROM_PROGRAMS}
    for row, name in ELSEWHERE.items():
        archive = {"13": "engineer.parquet", "14": "subs.parquet"}[row]
        assert archive in (Path(__file__).parent / name).read_text(encoding="utf-8")


# All of one archive


ROWS = [
    {"level": 1, "problem_id": 19, "code": f"# fake: fast 1.5\n{NEW}", "model": "ann"},
    {"level": 1, "problem_id": 19, "code": f"# fake: wrong_value\n{NEW}", "model": "bob"},
    {"level": 1, "problem_id": 77, "code": NEW, "model": "ann"},
    {"level": 2, "problem_id": 1, "code": NEW, "model": "ann"},
    {"level": 2, "problem_id": 1, "code": 3, "model": "ann"},
]
KEPT = {"passed": 2, "failed": 3}


@pytest.fixture
def archive(disk):
    disk.write("rows.jsonl", lines(*ROWS))
    return disk


def records(disk, name: str) -> list[Any]:
    return [json.loads(line) for line in (disk.path / name).read_text().splitlines()]


def collected(disk, *args: str) -> list[str]:
    listed = disk.run("--collect-only", "-q", *args)
    return [line for line in listed.outlines if "::" in line]


def test_rows_are_items(archive) -> None:
    result = archive.run("rows.jsonl", "-v")
    result.assert_outcomes(**KEPT)
    result.stdout.fnmatch_lines(
        [
            f"rows.jsonl::row1::test_kernel?{RELU}? PASSED 1.50x*",
            f"rows.jsonl::row2::test_kernel?{RELU}? FAILED wrong_value*",
            "rows.jsonl::row3::answers_a_problem FAILED*",
            "there is no problem 1/77; searched: *",
            "      level 1 has no problem 77: it has 19, 30",
            "rows.jsonl:5: code holds a number, not text",
            "2 of the solutions cannot be paired with a problem",
        ]
    )


@pytest.mark.parametrize(
    ("args", "rows"),
    [
        (["--kb-level=2"], ["row4"]),
        (["--kb-entrant=bob"], ["row2"]),
        (["--kb-problem=1/19"], ["row1", "row2"]),
        (["-k", "row1"], ["row1"]),
        (["-m", "kernel(entrant='bob')"], ["row2"]),
    ],
)
def test_rows_are_chosen_as_files_are(archive, args: list[str], rows: list[str]) -> None:
    found = [nodeid.split("::")[1] for nodeid in collected(archive, "rows.jsonl", *args)]
    assert [row for row in found if row != "row5"] == rows


def test_a_row_by_its_node_id(archive) -> None:
    nodeid = f"rows.jsonl::row1::test_kernel[{RELU}]"
    assert collected(archive, nodeid) == [nodeid]
    assert collected(archive, "rows.jsonl::row2") == [f"rows.jsonl::row2::test_kernel[{RELU}]"]


def test_last_failed(archive) -> None:
    archive.run("rows.jsonl")
    archive.run("rows.jsonl", "--lf").assert_outcomes(failed=3)


def test_under_xdist(archive) -> None:
    result = archive.run("rows.jsonl", "-n2", "--kb-json=out.jsonl")
    result.assert_outcomes(**KEPT)
    result.stdout.no_fnmatch_line("*have no verdict*")
    names = {record["entrant"] for record in records(archive, "out.jsonl")}
    assert names == {"ann", "bob"}


def test_a_worker_that_dies_over_a_row(disk) -> None:
    disk.write("rows.jsonl", lines(ROWS[0] | {"code": f"# fake: die\n{NEW}"}, ROWS[3]))
    result = disk.run("rows.jsonl", "-n2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED not_judged rows.jsonl::row1::*"])


def test_archives_are_never_read_by_suffix_alone(archive) -> None:
    archive.write("solutions/rows.jsonl", lines(*ROWS))
    archive.write("solutions/ann/level1/019_relu.py", NEW)
    assert collected(archive) == [f"solutions/ann/level1/019_relu.py::test_kernel[{RELU}]"]
    assert len(collected(archive, "solutions")) == 1


def test_archives_by_option(archive) -> None:
    archive.write("solutions/ann/level1/019_relu.py", NEW)
    alone = collected(archive, "--kb-solutions=rows.jsonl")
    assert [nodeid.split("::")[1] for nodeid in alone] == [f"row{n}" for n in range(1, 6)]
    both = collected(archive, "solutions", "--kb-solutions=rows.jsonl")
    assert len(both) == 6
    assert len(collected(archive, "rows.jsonl", "--kb-solutions=rows.jsonl")) == 5


def test_archives_in_the_ini_file(archive) -> None:
    archive.write("solutions/ann/level1/019_relu.py", NEW)
    text = (archive.path / "pytest.toml").read_text()
    archive.write("pytest.toml", text + 'kb_solutions = ["rows.jsonl"]\n')
    assert len(collected(archive)) == 6
    assert len(collected(archive, "solutions")) == 1


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--kb-solutions=none.jsonl"], "*--kb-solutions *none.jsonl: there is no such file*"),
        (["--kb-solutions=problems"], "*--kb-solutions *problems: not one of .json, *"),
        (["--kb-problem=none.py"], "*--kb-problem none.py: there is no such file*"),
        (["--kb-problem=pytest.toml"], "*is neither LEVEL/NUMBER, as in 1/19, nor a file*"),
        (["--kb-eval-results=none/x.json"], "*--kb-eval-results *: not a file in a folder*"),
    ],
)
def test_usage_errors(archive, args: list[str], why: str) -> None:
    result = archive.run("rows.jsonl", *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([why])


def test_a_file_that_is_no_archive_is_one_failed_item(archive) -> None:
    archive.write("broken.json", "{")
    result = archive.run("broken.json", "rows.jsonl")
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(["broken.json: *broken.json is no JSON: *"])


def test_the_same_answer_for_two_problems_is_two_files(disk) -> None:
    disk.write("rows.json", json.dumps([ROWS[3], ROWS[3] | {"level": 1, "problem_id": 30}]))
    disk.run("rows.json").assert_outcomes(passed=2)
    made = [path.name for path in (disk.path / ".kernelbench/sources").rglob("*.py")]
    assert sorted(made) == ["rows_1.py", "rows_2.py"]


# Whole sets


def test_reported_case_triton_needs_a_file(disk) -> None:
    shutil.copytree(DATA / "cases/reports/F2-triton-needs-a-file", disk.path, dirs_exist_ok=True)
    result = disk.run("solutions.jsonl", "--kb-problem=problem.py", "-v")
    result.assert_outcomes(passed=2)
    sources = sorted((disk.path / ".kernelbench/sources").rglob("*.py"))
    rows = map(json.loads, (disk.path / "solutions.jsonl").read_text().splitlines())
    assert {path.read_text() for path in sources} == {row["code"] for row in rows}
    told = disk.run("solutions.jsonl")
    told.assert_outcomes(failed=2)
    told.stdout.fnmatch_lines(["solutions.jsonl:1 is for 'problem': *--kb-problem FILE*"])


def test_model_answers_handed_over(disk) -> None:
    shutil.copytree(DATA / "answers", disk.path / "answers")
    result = disk.run("answers", "--kb-problem=answers/problem.py", "--kb-json=out.jsonl", "-v")
    result.assert_outcomes(passed=4)
    notes = [record["notes"] for record in records(disk, "out.jsonl")]
    assert ["from 05_think.md", "code from lines 7 to 12 of the answer"] in notes
    disk.write("answers/20_none.md", "Sorry.")
    again = disk.run("answers", "--kb-problem=answers/problem.py")
    again.assert_outcomes(passed=4, failed=1)
    again.stdout.fnmatch_lines(["20_none.md: the answer holds no code: *"])


def test_a_kernelbench_checkout_judged_as_it_is(disk) -> None:
    for name in ("1_Square_matrix_multiplication_", "2_ReLU", "10_Tanh"):
        disk.write(f"KernelBench/KernelBench/level1/{name}.py", MODEL)
    for number, fake in ((1, "fast 2"), (2, "not_built"), (10, "wrong_shape")):
        for sample in (0, 1):
            name = f"level_1_problem_{number}_sample_{sample}_kernel.py"
            disk.write(f"KernelBench/runs/gpt/{name}", f"# fake: {fake}\n{NEW}")
    result = disk.run(
        "KernelBench/runs", "--kb-problems=KernelBench", "--kb-eval-results=eval_results.json"
    )
    result.assert_outcomes(passed=2, failed=2, errors=2)
    results = json.loads((disk.path / "eval_results.json").read_text())
    assert list(results) == ["1", "2", "10"]
    assert [sample["compiled"] for sample in results["2"]] == [False, False]
    assert [sample["correctness"] for sample in results["10"]] == [False, False]
    assert results["1"][1]["runtime"] == pytest.approx(0.05)


def test_problems_in_a_table(disk) -> None:
    rows = [{"code": MODEL, "level": 1, "name": "19_Other", "problem_id": 19}]
    disk.write("hub.jsonl", lines(*rows, {"code": MODEL, "name": "x"}))
    disk.write("runs/x/level_1_problem_19_sample_0_kernel.py", NEW)
    result = disk.run("runs", "--kb-problems=hub.jsonl", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["kernelbench: *hub.jsonl:2: no column says its level*", "*level1/019_Other* PASSED*"]
    )


def test_many_formats_in_one_session(disk) -> None:
    for name in ("1 KernelBench run", "9 Solution JSON", "11 answers", "15 levels of lists"):
        for file, text in CASES[name].files.items():
            disk.write(file, text)
    result = disk.run("runs", "sol", "gpt", "a.json")
    result.assert_outcomes(passed=5, failed=2)
    result.stdout.fnmatch_lines(["*is already sample 0 of 'gpt' for level1/019_relu: *"])


def test_a_stored_baseline_of_another_device(disk) -> None:
    entry = {"mean": 0.3, "std": 0.0, "num_trials": 5, "hardware": "Some GPU"}
    disk.write("times.json", json.dumps({"level1": {"19_relu.py": entry}}))
    disk.write("solutions/ann/level1/019_relu.py", NEW)
    args = ("solutions", "--kb-baseline-times=times.json", "--kb-device=cpu")
    refused = disk.run(*args)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*measured on 'Some GPU', but this session judges on *"])
    taken = disk.run(*args, "--kb-foreign-baseline", "--kb-json=out.jsonl")
    taken.assert_outcomes(passed=1)
    (record,) = records(disk, "out.jsonl")
    assert [m["speedup"] for m in record["measurements"]] == [1.0, pytest.approx(3.0)]
    taken.stdout.fnmatch_lines(["    against */times: geomean 3.00x (n=1), 1 shown faster"])


def test_traces_and_tables(archive) -> None:
    archive.run("rows.jsonl", "--kb-trace=t.jsonl", "--kb-csv=t.csv")
    traces = records(archive, "t.jsonl")
    assert len(traces) == 3
    assert {each["evaluation"]["status"] for each in traces} == {"PASSED", "INCORRECT_NUMERICAL"}
    assert len((archive.path / "t.csv").read_text().splitlines()) == 4
