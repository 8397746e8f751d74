"""Small programs of known kinds and sizes, as problem files and as solutions that copy them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.catalog.pair import Problem

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = """import torch
import torch.nn.functional as F

FAMILIES = ()


class {entry}(torch.nn.Module):
    def forward(self, {names}):
        return {body}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


@dataclass(frozen=True)
class Program:
    """A forward without parameters."""

    name: str
    body: str
    inputs: tuple[str, ...]
    """One expression each; the first is called ``x``, the second ``y``."""

    def text(self, entry: str = "Model") -> str:
        """The file."""
        names = ", ".join(("x", "y", "z")[: len(self.inputs)])
        inputs = ", ".join(self.inputs)
        return _TEXT.format(entry=entry, names=names, body=self.body, inputs=inputs)


def randn(*shape: int) -> str:
    """An input of normal random numbers."""
    return f"torch.randn({', '.join(map(str, shape))})"


def product(rows: int, depth: int, columns: int) -> tuple[str, str]:
    """Two matrices whose product has elements of about one."""
    return randn(rows, depth), f"{randn(depth, columns)} * {depth}**-0.5"


def problem_of(program: Program, folder: Path) -> Problem:
    """The program as a problem, in a folder of its own."""
    return Problem(
        _write(folder / program.name / f"001_{program.name}.py", program.text()), 1, 1, program.name
    )


def copy_of(program: Program, folder: Path, body: str = "") -> Path:
    """A solution that says the same, or has another ``body``."""
    other = Program(program.name, body or program.body, program.inputs)
    return _write(
        folder / program.name / "solution" / f"001_{program.name}.py", other.text("ModelNew")
    )


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
