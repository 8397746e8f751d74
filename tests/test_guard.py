"""Which folders hold solutions, and what in them is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.catalog.solutions import Matchmaker, own_adapters
from pytest_kernelbench.guard import Guard, close_import_path, initial_conftest_folders

FILES = [
    "pyproject.toml",
    "problems/level1/019_relu.py",
    "solutions/ann/level1/019_relu.py",
    "solutions/eve/readme.md",
    "runs/gpt/level_1_problem_1_sample_0_kernel.py",
    "entries/bob/level1/019_relu.py",
    "puzzles/solutions/day1.py",
    "tests/test_it.py",
]


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = "class Model: pass\n" if name.startswith("problems") else "class ModelNew: pass\n"
        (tmp_path / name).write_text(text if "level" in name else "")
    catalog = ProblemCatalog([tmp_path / "problems"])
    return Guard(Matchmaker(catalog, own_adapters(("solutions",))), ["solutions"], tmp_path)


@pytest.mark.parametrize(
    ("folder", "territory"),
    [
        ("solutions", "solutions"),
        ("solutions/ann", "solutions"),
        ("solutions/ann/level1", "solutions"),
        ("solutions/eve", "solutions"),
        ("solutions/eve/deep/below", "solutions"),
        ("runs/gpt", "runs/gpt"),
        ("runs", None),
        ("entries/bob/level1", "entries/bob"),
        ("entries/bob/tests", "entries/bob"),
        ("entries", None),
        ("problems/level1", None),
        ("puzzles/solutions", None),
        ("tests", None),
        (".", None),
    ],
)
def test_territory(guard: Guard, tmp_path: Path, folder: str, territory: str | None) -> None:
    expected = None if territory is None else tmp_path / territory
    assert guard.territory(tmp_path / folder) == expected


def test_refusal_names_file_and_folder(guard: Guard, tmp_path: Path) -> None:
    assert guard.refusal(tmp_path / "solutions/eve") is None
    (tmp_path / "solutions/eve/conftest.py").touch()
    (tmp_path / "tests/conftest.py").touch()
    message = guard.refusal(tmp_path / "solutions/eve")
    assert message is not None
    assert message.startswith(f"{tmp_path / 'solutions/eve/conftest.py'} is refused")
    assert f"{tmp_path / 'solutions'} is a folder of solutions" in message
    assert guard.refusal(tmp_path / "tests") is None


def test_any_solutions(guard: Guard, tmp_path: Path) -> None:
    assert guard.any_solutions([tmp_path])
    assert guard.any_solutions([tmp_path / "runs/gpt/level_1_problem_1_sample_0_kernel.py"])
    assert not guard.any_solutions([tmp_path / "tests", tmp_path / "problems"])


def test_initial_conftests_lie_above_and_in_test_folders_below(tmp_path: Path) -> None:
    (tmp_path / "a/tests").mkdir(parents=True)
    (tmp_path / "a/other").mkdir()
    (tmp_path / "a/x.py").touch()
    assert list(initial_conftest_folders([tmp_path / "a"]))[:2] == [tmp_path / "a", tmp_path]
    assert tmp_path / "a/tests" in initial_conftest_folders([tmp_path / "a"])
    assert tmp_path / "a/other" not in initial_conftest_folders([tmp_path / "a"])
    assert next(initial_conftest_folders([tmp_path / "a/x.py"])) == tmp_path / "a"


def test_folders_of_solutions_leave_the_import_path(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = str(tmp_path / "tests"), str(tmp_path / "solutions/ann")
    around = str(tmp_path / "runs/gpt/../../tests")
    monkeypatch.setattr(sys, "path", [theirs, *sys.path, ours, around, ""])
    monkeypatch.chdir(tmp_path / "runs/gpt")
    before = len(sys.path)
    assert close_import_path(guard, tmp_path) == [theirs, str(tmp_path / "runs/gpt")]
    assert len(sys.path) == before - 2
    assert {ours, around} <= {*sys.path}


LINKS = [
    # Link, what it leads to, arguments, whether it may be read.
    ("solutions/ann/level1/020_x.py", "../../../elsewhere/019_relu.py", ["solutions"], False),
    ("solutions/ann/level1/020_x.py", "../../../elsewhere/019_relu.py", ["."], False),
    ("solutions/ann/level1/020_x.py", "/etc/passwd", ["solutions/ann/level1/020_x.py"], False),
    ("solutions/ann/level1/020_x.py", "019_relu.py", ["solutions"], True),
    ("solutions/ann/level1/020_x.py", "../../eve/readme.md", ["solutions/ann"], True),
    ("solutions/ann/level2", "../../elsewhere", ["solutions"], False),
    ("solutions/ann/level2", "../../elsewhere", ["solutions/ann/level2"], True),
    ("solutions/ann/level2", "../../elsewhere", ["solutions/ann/level2/019_relu.py"], False),
    ("entries/joe", "../elsewhere/joe", ["entries"], False),
    ("entries/joe", "../elsewhere/joe", ["entries/joe"], True),
]


@pytest.mark.parametrize(("link", "target", "arguments", "allowed"), LINKS)
def test_a_link_that_leads_out_is_refused(
    guard: Guard, tmp_path: Path, link: str, target: str, arguments: list[str], *, allowed: bool
) -> None:
    for name in ("elsewhere/019_relu.py", "elsewhere/joe/level1/019_relu.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("class ModelNew: pass\n")
    (tmp_path / link).symlink_to(target)
    inner = {"solutions/ann/level2": "019_relu.py", "entries/joe": "level1/019_relu.py"}
    path = tmp_path / link / inner.get(link, "")
    named = [tmp_path / argument for argument in arguments]
    refusal = guard.refuse_link(path, named)
    assert (refusal is None) is allowed
    if refusal is not None:
        assert "leads out of the folder that is judged" in refusal


def test_solutions_may_lie_anywhere_as_a_whole(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "solutions").rename(tmp_path / "disk")
    (tmp_path / "solutions").symlink_to("disk")
    path = tmp_path / "solutions/ann/level1/019_relu.py"
    for argument in (".", "solutions", "solutions/ann", "solutions/ann/level1/019_relu.py"):
        assert guard.refuse_link(path, [tmp_path / argument]) is None


@pytest.mark.parametrize(("target", "why"), [("..", "that it lies in"), ("/etc", "leads out")])
def test_the_way_in_goes_not_out_nor_round(
    guard: Guard, tmp_path: Path, target: str, why: str
) -> None:
    assert guard.refuse_way(tmp_path / "solutions/ann", [tmp_path]) is None
    (tmp_path / "solutions/ann/way").symlink_to(target)
    refusal = guard.refuse_way(tmp_path / "solutions/ann/way", [tmp_path])
    assert refusal is not None
    assert why in refusal
