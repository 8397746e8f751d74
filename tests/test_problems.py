"""Every problem of the tree: held against the facts of its original, and proved fit to judge by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kernelbench.judge.audit import Request, audit
from pytest_kernelbench.judge.facts import contradictions, read_facts
from pytest_kernelbench.judge.layout import violations

if TYPE_CHECKING:
    from collections.abc import Callable

PROBLEMS = Path(__file__).parents[1] / "problems"
FACTS = read_facts(Path(__file__).parent / "data" / "problem_facts.jsonl")


def paths() -> list[Path]:
    return sorted(PROBLEMS.rglob("*.py"))


def identity(path: Path) -> tuple[int, int]:
    return int(path.parent.name.removeprefix("level")), int(path.name.partition("_")[0])


def parameters(slow: Callable[[Path], bool]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "path",
        [
            pytest.param(
                path,
                id=f"{path.parent.name}/{path.stem}",
                marks=[pytest.mark.slow] if slow(path) else [],
            )
            for path in paths()
        ],
    )


def is_recurrent(path: Path) -> bool:
    # torch unrolls these on the meta device: ten thousands of operators, seconds each.
    return identity(path) in {(3, number) for number in range(35, 43)}


def test_all_are_there_once() -> None:
    assert [identity(path) for path in paths()] == sorted(FACTS)


@parameters(slow=lambda _: False)
def test_text_follows_the_format(path: Path) -> None:
    assert list(violations(path)) == []


@parameters(slow=is_recurrent)
def test_true_size_agrees_with_the_facts(path: Path) -> None:
    assert list(contradictions(path, FACTS[identity(path)])) == []


@parameters(slow=lambda _: True)
def test_small_size_tells_kernels_apart(path: Path) -> None:
    assert audit(Request(path)).failures == ()
