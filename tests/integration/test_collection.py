"""What is collected, by which name, in which order, and chosen by which options."""

from __future__ import annotations

import resource
import shutil
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "data/cases/reports"
RELU = "test_kernel[level1/001_relu]"


@pytest.fixture
def pairs(tree):
    """Two entrants, two levels; one solution is wrong."""
    tree.problem("level1/001_relu", "level1/002_tanh", "level2/001_mix")
    tree.solution("ann/level1/001_relu", "fast 1.84")
    tree.solution("ann/level1/002_tanh", "wrong_value")
    tree.solution("ann/level2/001_mix")
    tree.solution("bob/level1/001_relu")
    return tree


def collected(tree, *args: str) -> list[str]:
    result = tree.run("--collect-only", "-q", *args)
    return [line for line in result.outlines if "::" in line]


ANN = "solutions/ann/level1/001_relu.py::test_kernel[level1/001_relu]"
TANH = "solutions/ann/level1/002_tanh.py::test_kernel[level1/002_tanh]"
MIX = "solutions/ann/level2/001_mix.py::test_kernel[level2/001_mix]"
BOB = "solutions/bob/level1/001_relu.py::test_kernel[level1/001_relu]"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["solutions"], [ANN, TANH, MIX, BOB]),
        ([], [ANN, TANH, MIX, BOB]),
        (["."], [ANN, TANH, MIX, BOB]),
        (["solutions/bob"], [BOB]),
        (["solutions/ann/level2/001_mix.py"], [MIX]),
        (["solutions/bob", "solutions/ann/level2"], [BOB, MIX]),
        ([ANN], [ANN]),
        (["solutions/ann/level1/001_relu.py::test_kernel"], [ANN]),
        (["solutions/ann/level1", ANN], [ANN, TANH]),
        (["solutions", "-k", "relu and bob"], [BOB]),
        (["solutions", "-k", "not level1"], [MIX]),
        (["solutions", "-m", "kernel"], [ANN, TANH, MIX, BOB]),
        (["solutions", "-m", "not kernel"], []),
        (["solutions", "-m", "kernel(level=2)"], [MIX]),
        (["solutions", "-m", "kernel(entrant='bob')"], [BOB]),
        (["solutions", "--kb-level=2"], [MIX]),
        (["solutions", "--kb-level=1,2"], [ANN, TANH, MIX, BOB]),
        (["solutions", "--kb-level=1", "--kb-level", "2"], [ANN, TANH, MIX, BOB]),
        (["solutions", "--kb-problem=1/1"], [ANN, BOB]),
        (["solutions", "--kb-problem=1/2,2/1"], [TANH, MIX]),
        (["solutions", "--kb-entrant=bob"], [BOB]),
        (["solutions", "--kb-entrant=bob", "--kb-level=1"], [BOB]),
    ],
    ids=lambda value: " ".join(value) if value and "::" not in value[-1] else None,
)
@pytest.mark.parametrize("xdist", [[], ["-p", "no:xdist"]], ids=["xdist", "no-xdist"])
def test_selection(pairs, xdist: list[str], args: list[str], expected: list[str]) -> None:
    assert collected(pairs, *xdist, *args) == expected


def test_tree(pairs) -> None:
    result = pairs.run("--collect-only", "solutions/bob")
    result.stdout.fnmatch_lines(
        ["*<SolutionModule 001_relu.py>", f"*<Function {RELU[:11]}?level1*"]
    )


def test_deselected_are_counted(pairs) -> None:
    pairs.run("solutions", "--kb-level=2").assert_outcomes(passed=1, deselected=3)


def test_last_failed_and_stepwise(pairs) -> None:
    pairs.run("solutions").assert_outcomes(passed=3, failed=1)
    assert collected(pairs, "--lf", "solutions") == [TANH]
    pairs.run("solutions", "--lf").assert_outcomes(failed=1)
    pairs.run("solutions", "--sw").assert_outcomes(passed=1, failed=1)
    pairs.solution("ann/level1/002_tanh")
    pairs.run("solutions", "--sw").assert_outcomes(passed=3, deselected=1)
    pairs.run("solutions", "--ff").assert_outcomes(passed=4)


def test_last_failed_under_xdist(pairs) -> None:
    pairs.run("solutions", "-n2").assert_outcomes(passed=3, failed=1)
    pairs.run("solutions", "-n2", "--lf").assert_outcomes(failed=1)


def test_sample_10_comes_after_sample_9(tree) -> None:
    tree.problem("level1/001_relu")
    for sample in (10, 9, 0, 1):
        name = f"level_1_problem_1_sample_{sample}_kernel.py"
        tree.write(f"runs/gpt/{name}", "class ModelNew: pass\n")
        tree.solution(f"ann/level1/001_relu_sample{sample}")
    order = [line.partition("::")[0].partition("sample")[2] for line in collected(tree, "runs")]
    assert order == ["_0_kernel.py", "_1_kernel.py", "_9_kernel.py", "_10_kernel.py"]
    order = [
        line.partition("::")[0].partition("sample")[2] for line in collected(tree, "solutions")
    ]
    assert order == ["0.py", "1.py", "9.py", "10.py"]


def test_from_another_root_and_working_directory(pairs, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    inner = str(pairs.path / "solutions")
    problems = f"--kb-problems={pairs.path / 'problems'}"
    fake = ("-c", str(pairs.path / "pytest.toml"))
    pairs.run(*fake, inner).assert_outcomes(passed=3, failed=1)
    pairs.run(
        "--rootdir", str(tmp_path), problems, inner, "--collect-only", "-q"
    ).stdout.fnmatch_lines(["4 tests collected*"])
    monkeypatch.chdir(pairs.path / "solutions" / "ann")
    pairs.run(".").assert_outcomes(passed=2, failed=1)


def test_a_solution_without_a_problem_is_one_failed_item(tree) -> None:
    tree.problem("level1/001_relu")
    tree.solution("ann/level1/001_relu")
    tree.solution("ann/level1/077_lost")
    tree.solution("ann/level1/001_gelu")
    tree.solution("ann/notes/kernel")
    tree.write("solutions/ann/notes/helper.py", "x = 1\n")
    tree.write("solutions/ann/readme.md", "text\n")
    result = tree.run("solutions")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "there is no problem 1/77; searched: */problems (levels 1: 1 problems)",
            "*kernel.py defines a solution, but its path does not tell to which problem*",
            "3 of the solutions cannot be paired with a problem",
            "FAILED solutions/ann/level1/077_lost.py::answers_a_problem*",
        ]
    )
    result.stdout.fnmatch_lines(["problem 1/1 is 'relu', not 'gelu'*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_the_same_sample_twice_is_judged_once(tree) -> None:
    tree.problem("level1/001_relu")
    tree.solution("ann/level1/001_relu")
    tree.solution("ann/level1/1_relu_sample0")
    result = tree.run("solutions")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*001_relu.py is already sample 0 of 'ann' for level1/001_relu*"])


def test_another_kernelbench_checkout_is_not_taken_for_solutions(tree) -> None:
    tree.write("KernelBench/level1/19_ReLU.py", "class Model: pass\n")
    assert collected(tree, "KernelBench") == []


def test_a_module_that_defines_ModelNew_elsewhere_is_none_of_our_business(tree) -> None:  # noqa: N802
    tree.write("src/kernels.py", "class ModelNew: pass\n")
    tree.write("tests/test_mine.py", "class ModelNew: pass\ndef test_mine(): pass\n")
    tree.run().assert_outcomes(passed=1)
    tree.run("src").assert_outcomes(failed=1)  # named by the user: then it is


def test_reported_case_file_names(tree) -> None:
    shutil.copytree(CASES / "F1-file-names", tree.path, dirs_exist_ok=True)
    result = tree.run("solutions", "-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "solutions/level_1_problem_1_sample_0_kernel.py::*001_add_* PASSED*",
            "solutions/level_1_problem_77_sample_0_kernel.py::answers_a_problem FAILED*",
            "solutions/level_4_problem_10_*::*010_google-bert-base_bs1_seq32* PASSED*",
            "there is no problem 1/77; searched: */problems (levels 1, 4: 2 problems)",
        ]
    )


def test_reported_case_compile_at_collection(tree) -> None:
    """Found by parsing, imported by nobody."""
    case = CASES / "U2-compile-at-collection"
    tree.problem("level1/001_add")
    for number, name in enumerate(("slow", "bad")):
        text = (case / f"solution_{name}.py").read_text()
        tree.write(f"solutions/ann/level1/001_add_sample{number}.py", text)
        shutil.copy(case / f"solution_{name}.py", tree.path / f"solutions/ann/solution_{name}.py")
    assert len(collected(tree, "solutions")) == 4
    assert collected(tree, "solutions", "-k", "nothing") == []
    assert not list(tree.path.rglob("IMPORTED"))


MANY = 2500


@pytest.mark.slow
def test_2500_pairs_are_collected_in_seconds_without_torch(tree) -> None:
    """Seconds of a processor, whatever else the machine does; for twice as many twice as long."""
    for number in range(1, MANY // 20 + 1):
        for level in ("level1", "level2"):
            tree.problem(f"{level}/{number:03d}_op{number}")
            for entrant in range(10):
                tree.solution(f"e{entrant}/{level}/{number:03d}_op{number}")
    code = (
        "import sys, pytest; code = pytest.main(['--collect-only', '-q', *sys.argv[1:]]);"
        "heavy = {'torch', 'numpy', 'triton'} & set(sys.modules); print('heavy', heavy)"
    )

    def collected_in_s(count: int, *places: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = tree.pytester.run(sys.executable, "-c", code, *places)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result.stdout.fnmatch_lines([f"{count} tests collected*", "heavy set()"])
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    half_s = collected_in_s(MANY // 2, *(f"solutions/e{entrant}/level1" for entrant in range(10)))
    whole_s = collected_in_s(MANY, "solutions")
    assert whole_s < 3 * half_s
    assert whole_s < 20  # 3 on an idle machine
