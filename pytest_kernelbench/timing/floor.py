"""What no kernel can beat on a device: the bytes that must move.

Two different questions. *Impossible* is a rejection, so it counts only what no algorithm avoids:
bytes of inputs that are sure to be read, and of outputs beyond what a cache can hold. Arithmetic is
not among it: a better algorithm may do with less than the reference's operators. *Percent of the
roof* is a figure to read: there their arithmetic counts, and every byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_kernelbench.timing.roof import Roof

MARGIN = 0.8
"""Rates are measured, not known: a time is impossible below this share of the floor."""


@dataclass(frozen=True)
class Work:
    """What one call of a problem has to do."""

    read_bytes: int
    """So much of the inputs as every correct forward reads."""
    written_bytes: int
    """Outputs."""
    flops: Mapping[str, float] = field(default_factory=dict)
    """Counted from the reference's operators, by dtype (``fp32``, ``bf16``, ...)."""
    moved_bytes: int = 0
    """Inputs, parameters and outputs, each once, as the roof has it; 0: what is sure to move."""


@dataclass(frozen=True)
class Floor:
    """Two times per call in microseconds."""

    floor_us: float
    """Nothing right can be faster."""
    roof_us: float
    """The reference's own work at the measured rates: never below ``floor_us``."""

    def percent_of_roof(self, time_us: float) -> float:
        """How near a time comes to the roof; above 100 where an algorithm spared arithmetic."""
        return 100.0 * self.roof_us / time_us

    def impossible(self, time_us: float, error_us: float = 0.0, margin: float = MARGIN) -> bool:
        """Whether a time is too short to be true, even if it were longer by its own error."""
        return time_us + error_us < margin * self.floor_us

    def refusal(self, time_us: float, error_us: float = 0.0, margin: float = MARGIN) -> str:
        """Why a time is impossible, as a sentence; empty when it is not."""
        if not self.impossible(time_us, error_us, margin):
            return ""
        return (
            f"impossible: {time_us:.3g} us per call, but moving the bytes that every right answer "
            f"has to move takes this device at least {self.floor_us:.3g} us; some of the work is "
            "not in the time, and the pair is not counted as fast"
        )


def floor(work: Work, roof: Roof) -> Floor:
    """The floor of one call on the device that ``roof`` describes."""
    # Written lines may still lie in the cache when the digest has been taken.
    written = max(work.written_bytes - roof.write_back_bytes, 0)
    needed_s = (work.read_bytes + written) / roof.bandwidth_bytes_per_s
    moved = max(work.moved_bytes, work.read_bytes + work.written_bytes)
    whole_s = moved / roof.bandwidth_bytes_per_s
    roof_s = max(needed_s, whole_s, _arithmetic_s(work.flops, roof))
    return Floor(floor_us=1e6 * needed_s, roof_us=1e6 * roof_s)


def _arithmetic_s(flops: Mapping[str, float], roof: Roof) -> float:
    """Time of the arithmetic; a dtype whose rate was not measured cannot bound anything."""
    rates = {dtype: roof.rate(dtype) for dtype in flops}
    return sum(count / rates[dtype] for dtype, count in flops.items() if rates[dtype] > 0.0)
