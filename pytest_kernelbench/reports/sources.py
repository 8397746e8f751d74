"""The text of solutions, for records and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kernelbench.folders import chunks

if TYPE_CHECKING:
    from pytest_kernelbench.verdict import Verdict

MOST_BYTES = 256 << 10


def source_of(verdict: Verdict) -> str:
    """The text of a solution's file, its end cut off above 256 KiB; empty where there is none.

    Never through a link: records are handed around, and its author could let it point anywhere.
    """
    path = Path(verdict.solution)
    try:
        if path.is_symlink():
            return ""
        return b"".join(chunks(path, MOST_BYTES)).decode(errors="replace")
    except (OSError, ValueError):
        return ""
