"""What a solution's path says of it, before anybody knows whether such a problem exists."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Claim:
    """A file is a solution: whose, to which problem, which try."""

    entrant: str
    level: int | None = None
    """None where the path does not tell."""
    number: int | None = None
    name: str = ""
    """The problem's name, if the file bears it: it must then be the right one."""
    sample: int = 0
    entry: str = "ModelNew"


class Adapter(Protocol):
    """Recognises one layout of solution files.

    Called for every file that pytest sees: it must be quick, and import nothing.
    """

    def __call__(self, path: Path) -> Claim | None:
        """What ``path`` claims to be; None if this layout does not know it."""
        ...  # pragma: no cover
