"""What no kernel can beat on a device: bytes that must move, arithmetic that must happen.

Two different questions. *Impossible* is a rejection, so it counts only what no algorithm avoids:
bytes of inputs and outputs beyond what a cache can hold, and such arithmetic as is known to be
needed (a lone dense matrix product; not the operator trace, which a better algorithm may halve).
*Percent of the roof* is a figure to read: there the arithmetic of the reference's operators counts.
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
    """Inputs and parameters that every correct forward reads, each once."""
    written_bytes: int
    """Outputs."""
    flops: Mapping[str, float] = field(default_factory=dict)
    """Counted from the reference's operators, by dtype (``fp32``, ``bf16``, ...)."""
    least_flops: Mapping[str, float] = field(default_factory=dict)
    """Of these, what no algorithm avoids; leave empty where that is not certain."""
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
            f"impossible: {time_us:.3g} us per call, but moving the problem's bytes and doing its "
            f"unavoidable arithmetic takes this device at least {self.floor_us:.3g} us; some of "
            "the work is not in the time, and the pair is not counted as fast"
        )


def floor(work: Work, roof: Roof) -> Floor:
    """The floor of one call on the device that ``roof`` describes."""
    read = max(work.read_bytes - roof.warm_read_bytes, 0)
    # Written lines may still lie in the cache when the digest has been taken.
    written = max(work.written_bytes - roof.write_back_bytes, 0)
    needed_s = max(
        (read + written) / roof.bandwidth_bytes_per_s, _arithmetic_s(work.least_flops, roof)
    )
    moved = max(work.moved_bytes, work.read_bytes + work.written_bytes)
    whole_s = moved / roof.bandwidth_bytes_per_s
    roof_s = max(needed_s, whole_s, _arithmetic_s(work.flops, roof))
    return Floor(floor_us=1e6 * needed_s, roof_us=1e6 * roof_s)


def _arithmetic_s(flops: Mapping[str, float], roof: Roof) -> float:
    """Time of the arithmetic; a dtype whose rate was not measured cannot bound anything."""
    rates = {dtype: roof.rate(dtype) for dtype in flops}
    return sum(count / rates[dtype] for dtype, count in flops.items() if rates[dtype] > 0.0)
