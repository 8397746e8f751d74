"""The nouns of the catalog, known from paths and names alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Problem:
    """A file with ``Model``, ``get_inputs()`` and ``get_init_inputs()``."""

    path: Path
    level: int
    number: int
    name: str
    """Without the number: ``relu``."""

    @property
    def id(self) -> str:
        """``level1/019_relu``: what stands in brackets in a node id."""
        return f"level{self.level}/{self.number:03d}_{self.name}"


@dataclass(frozen=True)
class Solution:
    """A file with ``ModelNew``: same constructor and ``forward`` as the problem's ``Model``."""

    path: Path
    entrant: str
    sample: int = 0
    entry: str = "ModelNew"
    origin: str = ""
    """Where it came from, if ``path`` was made for it: ``answers.jsonl:3``."""
    notes: tuple[str, ...] = ()
    """Remarks for the verdict: the adapter, the lines of an answer."""


@dataclass(frozen=True)
class Pair:
    """One problem with one solution: one pytest item."""

    problem: Problem
    solution: Solution
    earlier: Solution | None = None
    """``--kb-compare``: the same solution as it was, to be timed against."""
