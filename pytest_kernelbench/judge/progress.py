"""What is known of a pair while it is judged; a verdict is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_kernelbench.judge.kernels import Finding

if TYPE_CHECKING:
    from pytest_kernelbench.timing.floor import Floor
    from pytest_kernelbench.verdict import Measurement, Roofline


@dataclass
class Progress:
    """So far."""

    agreed: bool = False
    rounds: int = 0
    notes: list[str] = field(default_factory=list)
    measurements: tuple[Measurement, ...] = ()
    control: Measurement | None = None
    previous: Measurement | None = None
    roofline: Roofline | None = None
    floor: Floor | None = None
    ran: Finding = field(default_factory=lambda: Finding({}))
    walls: tuple[str, ...] = ()
    missing_walls: tuple[str, ...] = ()
