"""Which files are solutions, and which problem each of them answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.layouts import EntrantTree, kernelbench_run, unnamed
from pytest_kernelbench.catalog.pair import Pair, Problem, Solution

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_kernelbench.catalog.claim import Adapter, Claim
    from pytest_kernelbench.catalog.problems import ProblemCatalog


def own_adapters(solution_folders: tuple[str, ...]) -> tuple[Adapter, ...]:
    """The layouts known without a plugin, in the order they are asked."""
    return (EntrantTree(solution_folders), kernelbench_run)


class Matchmaker:
    """Pairs solutions with problems by path and name; at most it looks at a file's text."""

    def __init__(self, catalog: ProblemCatalog, adapters: Sequence[Adapter]) -> None:
        self.catalog = catalog
        self.adapters = tuple(adapters)

    def claim(self, path: Path, *, look_inside: bool = True) -> Claim | None:
        """What ``path`` claims to be; None if it is no solution.

        ``look_inside`` also takes a file of any other name that defines ``ModelNew``.
        """
        if path.suffix == ".py" and self.catalog.holds(path):
            return None
        for adapter in self.adapters:
            if (claim := adapter(path)) is not None:
                return claim
        return unnamed(path) if look_inside else None

    def pair(self, path: Path, claim: Claim) -> Pair | str:
        """The pair, or one sentence on why there is none."""
        if claim.level is None or claim.number is None:
            return (
                f"{path.name} defines a solution, but its path does not tell to which problem: "
                "name it <entrant>/levelN/NNN_name.py or level_L_problem_P_sample_S_kernel.py"
            )
        problem = self.catalog.get(claim.level, claim.number)
        searched = self.catalog.describe()
        if problem is None:
            return f"there is no problem {claim.level}/{claim.number}; searched: {searched}"
        if claim.name and not _same_name(claim.name, problem):
            return (
                f"problem {claim.level}/{claim.number} is {problem.name!r}, not {claim.name!r}: "
                f"mend the number or the name; searched: {searched}"
            )
        return Pair(problem, Solution(path, claim.entrant, claim.sample, claim.entry))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key by which sample 10 comes after sample 9."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((0, int(p), "") if p.isascii() and p.isdigit() else (1, 0, p) for p in parts)


def _same_name(name: str, problem: Problem) -> bool:
    # Sets of problems differ in case and punctuation: 19_ReLU.py, 019_relu.py, 1_add_.py.
    return _letters(name) == _letters(problem.name)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
