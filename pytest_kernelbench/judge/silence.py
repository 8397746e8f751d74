"""Compiled code that switches torch's profiler off, so that what it calls cannot be seen."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from pytest_kernelbench.judge.kernels import Finding

if TYPE_CHECKING:
    from pathlib import Path

_SWITCH = b"enableRecordFunction"
"""What ``at::DisableRecordFunctionGuard`` calls; a kernel has no use for it."""


def silenced(extension: Path) -> Finding | None:
    """What to think of a solution that was built into this folder; None if it silences nothing.

    On a CPU the profile is torch's own word. Who asks for the switch by another name, while it
    runs, is not found here (docs/trust.md, Ghosts).
    """
    for library in sorted(extension.glob("calls/*/*.so")):
        if _mentions(library, _SWITCH):
            why = (
                f"its compiled code ({library.name}) switches torch's profiler off "
                f"(at::{_SWITCH.decode()}): what it calls cannot be seen"
            )
            return Finding({}, accusation=why)
    return None


def _mentions(path: Path, name: bytes) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, 2):
            return False  # and nothing that could be mapped
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
            return contents.find(name) >= 0
