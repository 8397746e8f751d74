"""Solutions are recognised by path and name, and matched with their problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, natural, own_adapters

ENTRY = "class ModelNew: pass\n"


@pytest.fixture
def matchmaker(tmp_path: Path) -> Matchmaker:
    for name in ("level1/019_relu", "level1/1_add_", "level4/10_google-bert-base_bs1_seq32"):
        write(tmp_path, f"problems/{name}.py", "class Model: pass\n")
    return Matchmaker(ProblemCatalog([tmp_path / "problems"]), own_adapters(("solutions",)))


def write(root: Path, name: str, text: str = ENTRY) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("file", "claim"),
    [
        ("solutions/ann/level1/019_relu.py", Claim("ann", 1, 19, "relu")),
        ("solutions/ann/level1/19_ReLU_sample3.py", Claim("ann", 1, 19, "ReLU", 3)),
        ("solutions/ann/level1/19_relu_sample_12.py", Claim("ann", 1, 19, "relu", 12)),
        ("solutions/ann/run2/level1/019_relu.py", Claim("ann/run2", 1, 19, "relu")),
        ("solutions/level1/019_relu.py", Claim("solutions", 1, 19, "relu")),
        ("entries/bob/level1/019_relu.py", Claim("bob", 1, 19, "relu")),
        ("runs/x/level_1_problem_2_sample_10_kernel.py", Claim("x", 1, 2, sample=10)),
        ("runs/x/level_1_problem_2_sample_10.md", Claim("x", 1, 2, sample=10)),
        ("runs/x_level3/problem_2_kernel.py", Claim("x_level3", 3, 2)),
        ("solutions/ann/run2/level1/019_relu.md", Claim("ann/run2", 1, 19, "relu")),
        ("solutions/ann/run2/level1/019_relu_s2.cu", Claim("ann/run2", 1, 19, "relu", 2)),
        ("solutions/ann/level1/019_relu/solution.py", Claim("ann", 1, 19, "relu")),
        ("runs/x/level_1_problem_2_sample_3/model_new.py", Claim("x", 1, 2, sample=3)),
    ],
)
def test_layouts(tmp_path: Path, matchmaker: Matchmaker, file: str, claim: Claim) -> None:
    assert matchmaker.claim(write(tmp_path, file), look_inside=False) == claim


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ENTRY, True),
        ("import torch\nModelNew = make()\n", True),
        ('"""class ModelNew"""\nTEXT = """\nclass ModelNew: pass\n"""\n', False),
        ("def f():\n    class ModelNew: pass\n", False),
        ("class ModelNewer: pass\n", False),
        ("class ModelNew(:\n", True),
        ("# ModelNew\n", False),
        ("from kernel import ModelNew\n", True),
        ("from kernel import x  # for\n# ModelNew\n", False),
    ],
    ids=[
        "class",
        "assigned",
        "text",
        "inner",
        "longer",
        "syntax error",
        "comment",
        "imported",
        "in another line",
    ],
)
def test_a_look_inside(tmp_path: Path, matchmaker: Matchmaker, text: str, *, found: bool) -> None:
    path = write(tmp_path, "flat/kernel.py", text)
    assert (matchmaker.claim(path) is not None) is found
    assert matchmaker.claim(path, look_inside=False) is None


@pytest.mark.parametrize(
    "file",
    ["flat/test_x.py", "flat/x_test.py", "flat/conftest.py", "flat/readme.md", "flat/x.json"],
)
def test_other_files_are_not_looked_into(tmp_path: Path, matchmaker: Matchmaker, file: str) -> None:
    assert matchmaker.claim(write(tmp_path, file)) is None


BINDS = 'PYBIND11_MODULE(x, m) {{ m.def("{}", &f); }}\n'
LOADS = "load('k', [join(here, 'csrc', 'k.cpp')])\n" + ENTRY


@pytest.mark.parametrize(
    ("solution", "file", "bound", "claimed"),
    [
        (("level1/019_relu.py", LOADS), "level1/csrc/k.cpp", "forward", False),
        (("level1/019_relu.py", LOADS), "level1/k.cpp", "forward", False),
        (("level1/019_relu.py", LOADS), "level1/csrc/k.cpp", "relu", False),
        (("level1/019_relu.py", LOADS), "level1/csrc/relu.cpp", "forward", True),
        (("level1/019_relu.py", "'019_relu.cu'\n" + ENTRY), "level1/019_relu.cu", "x", False),
        (("level1/019_relu.py", "'1_add_.cu'\n" + ENTRY), "level1/1_add_.cu", "forward", True),
        (("level1/019_relu.py", "# not k.cpp\n" + ENTRY), "level1/k.cpp", "forward", True),
        (("level1/019_relu.py", ENTRY), "level1/k.cpp", "relu", False),
        (("level1/019_relu.py", ENTRY), "level1/a/b/k.cpp", "relu", False),
        (("level1/019_relu.py", ENTRY), "level1/1_add_.cpp", "relu", True),
        (("level1/test_k.py", "'k.cpp'\n" + ENTRY), "level1/k.cpp", "forward", True),
        (("level1/build.py", "'k.cpp'\n"), "level1/k.cpp", "relu", True),
        (("level2/019_relu.py", LOADS), "level1/k.cpp", "forward", True),
    ],
)
def test_what_a_solution_compiles_is_none(
    tmp_path: Path,
    matchmaker: Matchmaker,
    solution: tuple[str, str],
    file: str,
    bound: str,
    *,
    claimed: bool,
) -> None:
    name, text = solution
    write(tmp_path, f"solutions/ann/{name}", text)
    path = write(tmp_path, f"solutions/ann/{file}", BINDS.format(bound))
    assert (matchmaker.claim(path) is not None) is claimed


def test_a_helper_that_a_solution_imports_is_none(tmp_path: Path, matchmaker: Matchmaker) -> None:
    helper = write(tmp_path, "solutions/ann/level1/kernels.py", "def run(x): pass\n")
    assert matchmaker.claim(helper) is not None
    write(tmp_path, "solutions/ann/level1/019_relu.py", "from kernels import run\n" + ENTRY)
    assert matchmaker.claim(helper) is None


def test_problems_are_no_solutions(tmp_path: Path, matchmaker: Matchmaker) -> None:
    assert matchmaker.claim(tmp_path / "problems/level1/019_relu.py") is None
    elsewhere = write(tmp_path, "KernelBench/level1/19_ReLU.py", "class Model: pass\n")
    assert matchmaker.claim(elsewhere) is None


def test_nothing_is_imported(tmp_path: Path, matchmaker: Matchmaker) -> None:
    path = write(tmp_path, "solutions/ann/level1/019_relu.py", "raise SystemExit('imported')")
    claim = matchmaker.claim(path)
    assert claim is not None
    assert isinstance(matchmaker.pair(path, claim), Pair)


@pytest.mark.parametrize(
    ("file", "problem_id"),
    [
        ("solutions/a/level1/019_relu.py", "level1/019_relu"),
        ("solutions/a/level1/19_ReLU.py", "level1/019_relu"),
        ("run/level_1_problem_1_sample_0_kernel.py", "level1/001_add_"),
        (
            "run/level_4_problem_10_sample_0_kernel.py",
            "level4/010_google-bert-base_bs1_seq32",
        ),
        (
            "solutions/a/level4/10_google_bert_base_bs1_seq32.py",
            "level4/010_google-bert-base_bs1_seq32",
        ),
    ],
)
def test_pairs(tmp_path: Path, matchmaker: Matchmaker, file: str, problem_id: str) -> None:
    path = write(tmp_path, file)
    claim = matchmaker.claim(path)
    assert claim is not None
    pair = matchmaker.pair(path, claim)
    assert isinstance(pair, Pair)
    assert pair.problem.id == problem_id
    assert pair.solution.path == path


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("run/level_1_problem_77_sample_0_kernel.py", "there is no problem 1/77; searched: "),
        ("solutions/a/level1/019_gelu.py", "problem 1/19 is 'relu', not 'gelu'"),
        ("flat/kernel.py", "its path does not tell to which problem"),
    ],
)
def test_no_pair_says_why(tmp_path: Path, matchmaker: Matchmaker, file: str, why: str) -> None:
    path = write(tmp_path, file)
    claim = matchmaker.claim(path)
    assert claim is not None
    message = matchmaker.pair(path, claim)
    assert isinstance(message, str)
    assert why in message
    if "searched" in why:
        assert str(tmp_path / "problems") in message


def test_natural_order() -> None:
    names = ["s_10_k", "s_9_k", "s_1_k", "a10", "a9b", "9", "10", "x"]
    assert sorted(names, key=natural) == ["9", "10", "a9b", "a10", "s_1_k", "s_9_k", "s_10_k", "x"]
