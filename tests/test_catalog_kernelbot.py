"""A kernelbot's tasks as problems, and what their submissions import."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from pytest_kernelbench.catalog import kernelbot
from pytest_kernelbench.catalog.claim import Claim
from pytest_kernelbench.catalog.pair import Pair
from pytest_kernelbench.catalog.problem_files import problem_of_file
from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.catalog.task_settings import settings_of
from pytest_kernelbench.errors import UsageError

REFERENCE = '''\
"""Adds."""
from __future__ import annotations
from task import input_t, output_t
from utils import matching

def generate_input(m: int, n: int, seed: int) -> input_t:
    return m, n, seed

def ref_kernel(data: input_t) -> output_t:
    return sum(data)

check_implementation = matching(ref_kernel)
'''
TASK = "import torch\ninput_t = output_t = tuple\n"
UTILS = "def matching(function): return function\n"
SETTINGS = """\
# name: add
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
description: |
  Add them:
  - all of them
tests:
  - {"m": 1, "n": 2, "seed": 53124}
benchmarks:
  - {"m": 4, "n": 5, "seed": 1}

  - {m: 4, n: 5, seed: 2}
  - m: 16
    n: 32
    seed: 7
ranked_timeout: 300
"""
SUBMISSION = (
    "#!POPCORN leaderboard add\nfrom task import input_t, output_t\n"
    "def custom_kernel(data: input_t) -> output_t:\n    return sum(data)\n"
)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task as it lies in a set of them: what all share lies above it."""
    folder = tmp_path / "set" / "add_py"
    folder.mkdir(parents=True)
    for name, text in (("reference.py", REFERENCE), ("task.py", TASK), ("task.yml", SETTINGS)):
        (folder / name).write_text(text)
    (folder.parent / "utils.py").write_text(UTILS)
    return folder


def test_settings(task: Path) -> None:
    assert settings_of(task / "task.yml") == [
        {"m": 1, "n": 2, "seed": 53124},
        {"m": 4, "n": 5, "seed": 1},
        {"m": 4, "n": 5, "seed": 2},
        {"m": 16, "n": 32, "seed": 7},
    ]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{size: 3, kind: normal}", {"size": 3, "kind": "normal"}),
        ("{'shape': [1, 2], \"causal\": True, x: null}  # why",
         {"shape": [1, 2], "causal": True, "x": None}),
        ("{size: 3,\n     seed: 1.5e-3}", {"size": 3, "seed": 1.5e-3}),
        ("kind: cauchy\n    sizes: [3, 4]", {"kind": "cauchy", "sizes": [3, 4]}),
        ('name: "a, b"', {"name": "a, b"}),
    ],
)  # fmt: skip
def test_ways_to_write_a_setting(tmp_path: Path, entry: str, expected: dict[str, Any]) -> None:
    path = tmp_path / "task.yml"
    path.write_text(f"tests:\n  - {entry}\n")
    assert settings_of(path) == [expected]


@pytest.mark.parametrize("entry", ["{size: 3", "size", "{a: {b: }}", "!!python/object: x", "[1]"])
def test_what_is_no_setting_is_told_with_its_line(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "task.yml"
    path.write_text(f"# a task\ntests:\n  - {{size: 1}}\n  - {entry}\n")
    with pytest.raises(UsageError, match=r"task\.yml:4: no setting such as"):
        settings_of(path)


def run(path: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "problem"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)  # noqa: S102 - written here
    return namespace


def test_a_task_is_a_problem(task: Path, tmp_path: Path) -> None:
    import torch

    problem = problem_of_file(task / "reference.py", tmp_path / "cache", 3)
    assert problem.id == "level0/003_add"
    module = run(problem.path)
    torch.manual_seed(1)
    first, second = module["get_inputs"](), module["get_inputs"]()
    assert (first[:2], second[:2]) == ([16, 32], [16, 32])
    assert first[2] != second[2]
    torch.manual_seed(1)
    assert module["get_inputs"]() == first
    assert module["Model"]()(*first) == sum(first)
    assert module["SHAPES"] == [{"KB_SETTING": {"m": 1, "n": 2}}, {"KB_SETTING": {"m": 4, "n": 5}}]
    assert {path.name for path in problem.path.parent.iterdir()} == {
        "reference.py",
        "task.py",
        "utils.py",
    }


def test_a_folder_of_tasks(task: Path, tmp_path: Path) -> None:
    catalog = ProblemCatalog([task.parent], cache=tmp_path / "cache")
    assert [problem.id for problem in catalog.problems] == ["level0/001_add"]


def test_folders_of_tasks_side_by_side(task: Path, tmp_path: Path) -> None:
    """Problems that have no number get one each, whatever root they are in."""
    for name in ("hard/01_scale", "hard/02_shift"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "reference.py").write_text(
            "class Model: pass\ndef get_inputs(): return []\n"
        )
    alone = tmp_path / "alone.py"
    alone.write_text("class Model: pass\ndef get_inputs(): return []\n")
    catalog = ProblemCatalog([tmp_path / "hard", task.parent], [alone], tmp_path / "cache")
    assert [problem.id for problem in catalog.problems] == [
        "level0/001_alone",
        "level0/002_scale",
        "level0/003_shift",
        "level0/004_add",
    ]


def test_a_task_without_settings(task: Path, tmp_path: Path) -> None:
    (task / "task.yml").unlink()
    with pytest.raises(UsageError, match=r"generate_input needs m, n, but no task\.yml beside it"):
        problem_of_file(task / "reference.py", tmp_path / "cache", 1)
    text = REFERENCE.replace("m: int, n: int, seed", "m: int = 2, *, n: int = 3, seed")
    (task / "reference.py").write_text(text)
    problem = problem_of_file(task / "reference.py", tmp_path / "cache", 1)
    assert run(problem.path)["get_inputs"]()[:2] == [2, 3]


@pytest.mark.parametrize("definition", ["def", "async def"])
def test_a_task_without_settings_whose_inputs_are_made_in_a_branch(
    task: Path, tmp_path: Path, definition: str
) -> None:
    (task / "task.yml").unlink()
    text = (
        "def ref_kernel(data): pass\nif True:\n    def generate_input(a): pass\n"
        f"else:\n    {definition} generate_input(b, c=1): pass\n"
    )
    (task / "reference.py").write_text(text)
    with pytest.raises(UsageError, match=r"generate_input needs b, but no task\.yml beside it"):
        problem_of_file(task / "reference.py", tmp_path / "cache", 1)


@pytest.mark.parametrize("mark", ["\f", "\x1c", "\x85", "\u2028", "\r", "\\d"])
def test_odd_marks_above_a_future_import(task: Path, tmp_path: Path, mark: str) -> None:
    """Which end lines for texts and none for Python; or of which Python warns."""
    text = REFERENCE.replace("Adds.", f"Adds.{mark}Or not.")
    (task / "reference.py").write_text(text, encoding="utf-8", newline="")
    problem = problem_of_file(task / "reference.py", tmp_path / "cache", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(problem.path)["get_inputs"]()[:2] == [16, 32]
    assert (problem.path.parent / "utils.py").is_file()


@pytest.fixture
def pair(task: Path, tmp_path: Path) -> Any:
    catalog = ProblemCatalog([task.parent], cache=tmp_path / "cache")
    matchmaker = Matchmaker(catalog, own_adapters(("solutions",)), tmp_path / "cache")

    def made(path: Path, text: str = SUBMISSION) -> Pair:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        claim = matchmaker.claim(path, named=True)
        assert claim is not None
        found = matchmaker.pair(path, claim)
        assert isinstance(found, Pair), found
        return found

    return made


def beside(pair: Pair) -> set[str]:
    return {path.name for path in pair.solution.path.parent.iterdir()}


@pytest.mark.parametrize("place", ["set/add_py/submission.py", "set/add_py/solutions/correct/x.py"])
def test_a_submission_keeps_its_modules(pair: Any, tmp_path: Path, place: str) -> None:
    made = pair(tmp_path / place, SUBMISSION.replace("from task", "import utils\nfrom task"))
    assert made.problem.name == "add"
    assert beside(made) == {"solution.py", "kb_reference.py", "task.py", "utils.py"}
    assert (made.solution.path.parent / "task.py").read_text() == TASK


def test_a_submission_of_which_python_warns_keeps_its_modules(pair: Any, tmp_path: Path) -> None:
    """Here warnings are errors, as in many a project."""
    made = pair(tmp_path / "set/add_py/submission.py", SUBMISSION + 'PATTERN = "\\d"\n')
    assert beside(made) == {"solution.py", "kb_reference.py", "task.py"}


def test_a_later_version_of_a_leaderboard(pair: Any, tmp_path: Path) -> None:
    made = pair(tmp_path / "mine/a.py", SUBMISSION.replace("leaderboard add", "leaderboard add_v2"))
    assert (made.problem.name, made.solution.sample) == ("add", 2)


def test_a_submission_far_from_its_task(pair: Any, tmp_path: Path) -> None:
    made = pair(tmp_path / "mine/a.py")
    assert (made.solution.path.parent / "task.py").read_text() == TASK


def test_a_submission_to_another_problem_gets_the_types_it_names(tmp_path: Path) -> None:
    (problem := tmp_path / "problems/level1/001_add.py").parent.mkdir(parents=True)
    problem.write_text("class Model: pass\ndef get_inputs(): return []\n")
    found = dict(kernelbot.submission_modules(SUBMISSION, None, problem))
    assert set(found) == {"task.py"}
    assert "input_t = output_t = Any" in found["task.py"]
    assert kernelbot.submission_modules("import torch\n", None, problem) == ()


def test_modules_that_are_installed_are_never_a_tasks(task: Path) -> None:
    for name in ("torch", "os", "triton"):
        (task / f"{name}.py").write_text("raise SystemExit\n")
    text = "import torch, os\nimport triton.language as tl\nfrom task import input_t\n"
    assert set(dict(kernelbot.modules(text, (task,)))) == {"task.py"}


def test_no_module_comes_through_a_link_that_leads_out(task: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the key")
    (task / "stolen.py").symlink_to(tmp_path / "secret")
    (task / "own.py").symlink_to("task.py")
    found = dict(kernelbot.modules("import stolen, own\n", (task,)))
    assert set(found) == {"own.py"}


def test_an_archive_of_submissions(task: Path, tmp_path: Path) -> None:
    catalog = ProblemCatalog([task.parent], cache=tmp_path / "cache")
    matchmaker = Matchmaker(catalog, cache=tmp_path / "cache")
    from pytest_kernelbench.catalog.sources.text import claim_text

    claim = claim_text(SUBMISSION, Claim("subs", name="add", origin="subs.parquet:1"), "subs_1")
    found = matchmaker.pair(tmp_path / "subs.parquet", claim)
    assert isinstance(found, Pair)
    assert beside(found) == {"solution.py", "kb_reference.py", "task.py"}
