"""Problems are found by path alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_kernelbench.catalog.problems import ProblemCatalog
from pytest_kernelbench.errors import UsageError


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("raise SystemExit('imported')")
    return root


@pytest.mark.parametrize(
    ("file", "level", "number", "name", "id_"),
    [
        ("level1/019_relu.py", 1, 19, "relu", "level1/019_relu"),
        ("level1/19_ReLU.py", 1, 19, "ReLU", "level1/019_ReLU"),
        ("level1/1_add_.py", 1, 1, "add_", "level1/001_add_"),
        (
            "level4/10_google-bert-base_bs1_seq32.py", 4, 10, "google-bert-base_bs1_seq32",
            "level4/010_google-bert-base_bs1_seq32",
        ),
        ("level_2/1000_x.py", 2, 1000, "x", "level2/1000_x"),
    ],
)  # fmt: skip
def test_names(tmp_path: Path, file: str, level: int, number: int, name: str, id_: str) -> None:
    (problem,) = ProblemCatalog([touch(tmp_path, file)]).problems
    assert (problem.level, problem.number, problem.name) == (level, number, name)
    assert problem.id == id_
    assert problem.path == tmp_path / file


def test_what_is_no_problem(tmp_path: Path) -> None:
    touch(tmp_path, "level1/relu.py", "level1/1_x.txt", "levels/1_x.py", "1_x.py", "level1/_1_x.py")
    catalog = ProblemCatalog([tmp_path])
    assert catalog.problems == ()
    assert "no problems" in catalog.describe()
    assert str(tmp_path) in catalog.describe()


def test_order_is_by_number_not_by_text(tmp_path: Path) -> None:
    touch(tmp_path, "level1/10_b.py", "level1/9_a.py", "level10/1_d.py", "level2/1_c.py")
    names = [problem.name for problem in ProblemCatalog([tmp_path]).problems]
    assert names == ["a", "b", "c", "d"]


def test_of_several_roots_the_first_wins(tmp_path: Path) -> None:
    mine = touch(tmp_path / "mine", "level1/001_mine.py")
    other = touch(tmp_path / "other", "level1/1_other.py", "level1/2_two.py")
    catalog = ProblemCatalog([mine, other, tmp_path / "missing"])
    assert [problem.name for problem in catalog.problems] == ["mine", "two"]
    assert catalog.describe().endswith("(levels 1: 2 problems)")


def test_a_number_twice_in_one_root_is_refused_with_both_names(tmp_path: Path) -> None:
    touch(tmp_path, "level1/019_relu.py", "level1/19_gelu.py")
    with pytest.raises(UsageError, match=r"019_relu\.py and .*19_gelu\.py are both problem 1/19"):
        _ = ProblemCatalog([tmp_path]).problems
