"""Which torch headers a source needs, found in its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SOURCE_ENDINGS = (".cpp", ".cc", ".cxx", ".c++", ".cu")


@dataclass(frozen=True)
class Plan:
    """What to add to a compile command."""

    arguments: tuple[str, ...]


def plan(source: str, tool: str, command: list[str], config: dict[str, Any]) -> Plan | None:
    """The quick way to compile ``source``, or None where there is none."""
    del source, tool, command, config
    return None
