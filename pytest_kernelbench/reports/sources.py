"""The text of solutions, for records and reports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_kernelbench.verdict import Verdict

MOST_BYTES = 256 << 10


def source_of(verdict: Verdict) -> str:
    """The text of a solution's file, its end cut off above 256 KiB; empty where there is none.

    Never through a link: records are handed around, and its author could let it point anywhere.
    """
    try:
        with open(verdict.solution, "rb", opener=_no_link) as file:
            return file.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _no_link(path: str, flags: int) -> int:
    """Nor does a named pipe make anyone wait."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
