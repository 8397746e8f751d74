"""The current folder of a module body."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_kernelbench.build import desk as desk_module
from pytest_kernelbench.build.desk import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    beside, job = tmp_path / "ann", tmp_path / "job"
    (beside / "sub").mkdir(parents=True)
    for name in ("s.py", "k.cu", "sub/k.cuh"):
        (beside / name).write_text(name)
    job.mkdir()
    return Desk(beside / "s.py", job)


def test_what_lies_beside_is_at_hand(desk: Desk, tmp_path: Path) -> None:
    desk.sit_down()
    assert Path.cwd() == tmp_path / "job" / "desk"
    assert sorted(os.listdir()) == ["k.cu", "s.py", "sub"]
    assert Path("sub/k.cuh").read_text() == "sub/k.cuh"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("job/desk/sub/k.cuh", "sub/k.cuh"),
        ("ann/k.cu", "k.cu"),
        ("job/desk/made.cpp", "made.cpp"),
        ("ann2/k.cu", ""),
        ("job/job.json", ""),
    ],
)
def test_names_beside_the_solution(desk: Desk, tmp_path: Path, path: str, name: str) -> None:
    assert desk.name_beside(str(tmp_path / path)) == name


def test_words_name_the_solutions_own_folder(desk: Desk, tmp_path: Path) -> None:
    assert desk.told(f"{tmp_path}/job/desk/k.cu:3: no") == f"{tmp_path}/ann/k.cu:3: no"


def test_a_folder_that_is_too_full_or_gone(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "_MOST_LINKS", 2)
    desk.sit_down()
    assert len(os.listdir()) == 2
    (tmp_path / "other").mkdir()
    Desk(tmp_path / "gone" / "s.py", tmp_path / "other").sit_down()
    assert os.listdir() == []
