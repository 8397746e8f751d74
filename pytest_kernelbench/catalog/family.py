"""Which family of operators a problem belongs to, told from its level and name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.pair import Problem

BY_LEVEL = {2: "fusion", 3: "architecture"}
BY_WORD = (  # the first that is found decides: "batched matrix multiplication" is no norm
    ("conv", r"^conv|_conv"),
    ("matmul", r"matmul|matrix"),
    ("attention", r"attention"),
    ("loss", r"loss"),
    ("norm", r"norm(_|$)"),
    ("pool", r"pooling"),
    ("scan", r"cumsum|cumprod|scan"),
    ("reduction", r"reduction|reduce|argmax|argmin|sum_|mean_"),
)


def family(problem: Problem) -> str:
    """``conv``, ``matmul``, ...; a level-1 problem that names no other is an ``activation``."""
    return family_of(problem.level, problem.name)


def family_of(level: int, name: str) -> str:
    """The same by level and name alone."""
    if level in BY_LEVEL:
        return BY_LEVEL[level]
    return next((found for found, words in BY_WORD if re.search(words, name.lower())), "activation")
