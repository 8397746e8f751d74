"""The corpus and its one table: what each file is, and the verdict it must get."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import msgspec

CORPUS = Path(__file__).with_name("corpus")
TABLE = Path(__file__).with_name("expectations.json")


class Due(str, Enum):
    """What must come out."""

    ACCEPT = "accept"
    """Right, and without a mark."""
    REJECT = "reject"
    """Not right, whatever the status."""
    FLAG = "flag"
    """Right, with the mark ``not_a_kernel``."""
    ACCEPT_OR_FLAG = "accept_or_flag"
    """Right, with or without the mark."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the corpus."""

    name: str
    problem: str
    family: str
    """What is attacked (``clock``, ``cache``, ...), or ``honest``."""
    device: str
    """``any``, ``cpu`` or ``cuda``."""
    needs: tuple[str, ...]
    """Of ``compiler``, ``nvcc``, ``triton``."""
    honest: bool
    status: Due
    why: str
    """The kind of reason, in one word."""
    neutralised_ok: bool
    """Being accepted is fine where the speedup that is reported is no more than ``max_speedup``."""
    max_speedup: float | None
    hangs: bool = False
    """Found out by a time limit alone: judged with a short one."""
    at_import: bool = False
    """It does what it does when it is imported, and may end as ``not_built`` for it."""

    @property
    def path(self) -> Path:
        """The solution's file."""
        return CORPUS / f"{self.name}.py"

    @property
    def problem_path(self) -> Path:
        """The problem's file."""
        return CORPUS / "problems" / f"{self.problem}.py"


def load_cases() -> tuple[Case, ...]:
    """Every case, in the order of the table."""
    return msgspec.json.decode(TABLE.read_bytes(), type=tuple[Case, ...])
