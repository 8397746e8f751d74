"""Every problem of the tree: held against the facts of its original, and proved fit to judge by."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_kernelbench.judge.audit import Request, audit, find_problems
from pytest_kernelbench.judge.facts import contradictions, read_facts
from pytest_kernelbench.judge.layout import violations

PROBLEMS = Path(__file__).parents[1] / "problems"
FACTS = read_facts()


def paths() -> list[Path]:
    return find_problems([PROBLEMS])


def identity(path: Path) -> tuple[int, int]:
    return int(path.parent.name.removeprefix("level")), int(path.name.partition("_")[0])


def each_problem(test: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "path", paths(), ids=lambda path: f"{path.parent.name}/{path.stem}"
    )(test)


def test_all_are_there_once() -> None:
    assert [identity(path) for path in paths()] == sorted(FACTS)


@each_problem
def test_text_follows_the_format(path: Path) -> None:
    assert list(violations(path)) == []


@each_problem
def test_true_size_agrees_with_the_facts(path: Path) -> None:
    assert list(contradictions(path, FACTS[identity(path)])) == []


@pytest.mark.slow
@each_problem
def test_small_size_tells_kernels_apart(path: Path) -> None:
    assert audit(Request(path)).failures == ()
