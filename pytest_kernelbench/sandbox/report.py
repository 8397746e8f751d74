"""The walls in words: for a session's header, and for whoever asks what can be raised here."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from pytest_kernelbench.sandbox.client import ForkServer
from pytest_kernelbench.sandbox.plan import Ended, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

_ANY_BYTES = 1 << 40


def walls_line(up: Sequence[str], missing: Sequence[str]) -> str:
    """``walls: own session; files (Landlock)``, and what is missing.

    Where some are missing it says ``reduced isolation: ...``.
    """
    line = f"walls: {'; '.join(up) or 'none'}"
    return f"{line} | reduced isolation: no {'; no '.join(missing)}" if missing else line


def walls_here() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``(up, missing)`` around a child that ends at once, as around any contender.

    It takes a fraction of a second.

    Raises ``SandboxError``.
    """
    with tempfile.TemporaryDirectory(prefix="kb-walls-") as scratch, ForkServer() as server:
        child = server.spawn(Plan(f"{__name__}:nothing", scratch, tree_bytes=_ANY_BYTES), Ended)
        try:
            return child.walls, child.missing_walls
        finally:
            child.kill()


def nothing(_: object) -> None:
    """What the child of ``walls_here`` does."""
