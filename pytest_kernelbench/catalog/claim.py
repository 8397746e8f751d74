"""What a solution's path or row says of it, before anybody knows whether such a problem exists."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_kernelbench.catalog.material import Material


@dataclass(frozen=True)
class Claim:
    """A file or row is a solution: whose, to which problem, which try."""

    entrant: str
    level: int | None = None
    """None where the path does not tell."""
    number: int | None = None
    name: str = ""
    """The problem's name, if the file bears it: it must then be the right one."""
    sample: int = 0
    entry: str = "ModelNew"
    format: str = field(default="", compare=False)
    """How the file was understood, for people: ``KernelBench run``."""
    adapter: str = field(default="", compare=False)
    """What makes its entry point a ``ModelNew``: a name in ``catalog.adapters``; empty for none."""
    material: Material | None = field(default=None, compare=False, repr=False)
    """The source, where it has no file of its own or must not be judged where it lies."""
    origin: str = field(default="", compare=False)
    """``answers.jsonl:3``, where the file's path does not say it."""
    refusal: str = field(default="", compare=False)
    """Why it cannot be judged whatever the problem; then nothing else counts."""
    skipped: bool = field(default=False, compare=False)
    """The refusal is no fault of the solution: skip it."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Remarks for the verdict."""
    folder_wide: bool = field(default=False, compare=False)
    """What is wrong with it is wrong with its whole folder, and is said once."""


class Adapter(Protocol):
    """Recognises one layout of solution files.

    Called for every file that pytest sees: it must be quick, and import nothing.
    """

    def __call__(self, path: Path) -> Claim | None:
        """What ``path`` claims to be; None if this layout does not know it."""
        ...  # pragma: no cover
