"""Pairs judged for real on the CPU, without pytest and without a build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_kernelbench.build.extension import Extension
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution
from pytest_kernelbench.engine.devices import find_device
from pytest_kernelbench.judge.referee import Referee
from pytest_kernelbench.settings import Settings

if TYPE_CHECKING:
    from pytest_kernelbench.verdict import Verdict

SMALL_PROBLEM = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, a):
            return a * 2 + 1
    def get_inputs():
        return [torch.randn(64, 64)]
    def get_init_inputs():
        return []
"""
"""One that costs next to nothing, indented as in the tests that write it."""


class Judge:
    """A referee on the CPU and an extension with nothing in it."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        chosen = {"correctness_only": True, "seeds": 2, "timeout_s": 20.0, "cache_dir": folder}
        self.referee = Referee(Settings(**{**chosen, **settings}), find_device("cpu"))
        self._nothing = Extension(folder, folder / "build.log", 0.0, cached=True)
        (folder / "manifest.json").write_text('{"calls": {}}')

    def __call__(self, problem: Path, solution: Path) -> Verdict:
        """The verdict on one solution."""
        pair = Pair(Problem(problem, 1, 1, problem.stem), Solution(solution, solution.stem))
        return self.referee.judge(pair, self._nothing)


@contextmanager
def judging(folder: Path, **settings: Any) -> Iterator[Judge]:
    """A judge whose processes are gone afterwards."""
    judge = Judge(folder, **settings)
    try:
        yield judge
    finally:
        judge.referee.close()
