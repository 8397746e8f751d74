"""Hashes of what a pair consists of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_kernelbench.catalog.fingerprint import solution_hash
from pytest_kernelbench.catalog.pair import Solution


@pytest.fixture
def solution(tmp_path: Path) -> Solution:
    folder = tmp_path / "solutions/ann/relu"
    folder.mkdir(parents=True)
    (folder / "solution.py").write_text("class ModelNew: pass\n")
    return Solution(folder / "solution.py", "ann")


def test_a_file_beside_it_counts_by_its_contents(solution: Solution) -> None:
    beside = solution.path.with_name("data")
    seen = {solution_hash(solution)}
    for text in ("one", "two"):
        beside.write_text(text)
        seen.add(solution_hash(solution))
    assert len(seen) == 3
    (solution.path.parent / "same").symlink_to("data")
    through = solution_hash(solution)
    beside.write_text("three")
    assert solution_hash(solution) != through


def test_a_helper_that_it_imports_counts(solution: Solution) -> None:
    flat = Solution(solution.path.with_name("019_relu.py"), "ann")
    flat.path.write_text("import helper\nclass ModelNew: pass\n")
    seen = {solution_hash(flat)}
    for text in ("x = 1", "x = 2"):
        flat.path.with_name("helper.py").write_text(text)
        seen.add(solution_hash(flat))
    assert len(seen) == 3
    flat.path.with_name("unrelated.py").write_text("x = 3")
    assert solution_hash(flat) in seen


def test_a_link_that_leads_out_tells_nothing_of_what_is_there(
    solution: Solution, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("one")
    solution.path.with_name("data").symlink_to(secret)
    before = solution_hash(solution)
    secret.write_text("two")
    assert solution_hash(solution) == before


def test_what_takes_no_place_is_not_read_through(solution: Solution) -> None:
    with solution.path.with_name("sparse").open("wb") as file:
        file.truncate(60 << 30)
    before = solution_hash(solution)
    os.truncate(solution.path.with_name("sparse"), 61 << 30)
    assert solution_hash(solution) != before


def test_a_pipe_in_its_place_is_not_waited_for(solution: Solution) -> None:
    solution.path.unlink()
    os.mkfifo(solution.path)
    with pytest.raises(OSError, match="it is a named pipe"):
        solution_hash(solution)
