"""What is known about one pair once it has been judged: frozen dataclasses of plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec

from pytest_kernelbench.texts import one_line, printable, showable

SCHEMA_VERSION = 1


def _spell_out(instance: object, *names: str) -> None:
    """Make these fields, texts or tuples of texts, lines that can be shown."""
    for name in names:
        value = getattr(instance, name)
        shown = one_line(value) if isinstance(value, str) else tuple(map(one_line, value))
        object.__setattr__(instance, name, shown)


class Status(str, Enum):
    """How a pair ended: exactly one of these."""

    FAST = "fast"
    RIGHT = "right"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_VALUE = "wrong_value"
    WRONG_STRUCTURE = "wrong_structure"
    UNSTABLE = "unstable"
    ALTERED_INPUTS = "altered_inputs"
    CRASHED = "crashed"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_BUILT = "not_built"
    NOT_A_KERNEL = "not_a_kernel"
    BAD_PROBLEM = "bad_problem"
    NOT_JUDGED = "not_judged"
    SKIPPED = "skipped"

    @property
    def right(self) -> bool:
        """Whether the solution agreed with the reference wherever it was asked."""
        return self in _RIGHT

    @property
    def asked_again(self) -> bool:
        """Whether a later session judges the pair anew, since it may say more."""
        return self in _ASKED_AGAIN


UNSCORED = frozenset({Status.NOT_JUDGED, Status.BAD_PROBLEM})
"""The machine or the problem failed: no score counts it, and nobody's solution is at fault."""
UNJUDGED = UNSCORED | {Status.SKIPPED}
"""Nothing was found out about the solution: no reward, and no result in other tools' files."""
_ASKED_AGAIN = frozenset({Status.NOT_JUDGED, Status.SKIPPED})
"""They hang on the machine, and it may be another one next time."""
_RIGHT = frozenset({Status.FAST, Status.RIGHT, Status.NOT_A_KERNEL})


@dataclass(frozen=True)
class Measurement:
    """A solution timed against one baseline, by the same protocol and in turns."""

    baseline: str
    """As ``--kb-baseline`` calls it."""
    speedup: float
    """Median of the ratios of paired turns: baseline time over solution time."""
    low: float
    """Lower end of the 95 % interval of the speedup."""
    high: float
    """Upper end of the 95 % interval of the speedup."""
    baseline_us: float
    """Median time of one baseline call in microseconds, the protocol's own cost subtracted."""
    time_us: float
    """Median time of one solution call in microseconds, the protocol's own cost subtracted."""
    null_us: float
    """What the protocol itself costs per call, in microseconds."""
    turns: int
    """How many turns each side had."""
    calls: int
    """How many calls of the solution were timed (each of them on inputs never seen before)."""
    times_us: tuple[float, ...] = ()
    """The solution's time per call, one figure a turn."""
    baseline_times_us: tuple[float, ...] = ()
    """The baseline's time per call, one figure a turn."""
    events_us: float | None = None
    """The solution's own device events around ``forward``: evidence, never the score."""
    floor_us: float | None = None
    """No kernel can be faster than this on this device."""
    percent_of_roof: float | None = None
    """The solution's share of the rate at which this device could do the reference's work."""
    clock_mhz: int | None = None
    """SM clock after the last turn, as the driver says."""
    temperature_c: int | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """It may come from a file."""
        _spell_out(self, "baseline", "notes")


@dataclass(frozen=True)
class Roofline:
    """What a call has to do, beside the best rates measured on the device: a roofline plot."""

    moved_bytes: int
    """Inputs, parameters and outputs, each once."""
    flops: float
    """Matrix products, convolutions and attention of the reference; 0 where there are none."""
    bytes_per_s: float
    flops_per_s: float
    """For the dtype that was judged."""


@dataclass(frozen=True)
class Provenance:
    """What a verdict was made from: where none of it differs, judging again says nothing new."""

    solution_sha256: str
    """Of the solution's file and the files that belong to it; empty if they changed meanwhile."""
    problem_sha256: str
    settings: dict[str, Any]
    """The settings that a verdict hangs on, less those that are as by default."""
    torch: str
    """Its version."""
    tools: str
    """What compiled here, as a hash: compilers, CUDA, Python."""
    version: str
    """Of this package."""
    judged_at: str
    """ISO 8601, UTC."""

    def __post_init__(self) -> None:
        """It may come from a file."""
        _spell_out(self, "torch", "tools", "version", "judged_at")


@dataclass(frozen=True)
class Verdict:
    """One pair's end. Holds nothing but plain values, so that it travels anywhere."""

    level: int
    number: int
    problem: str
    entrant: str
    solution: str
    status: Status
    sample: int = 0
    agreed: bool = False
    """Every round of agreement was right (a later failure may still decide the status)."""
    reasons: tuple[str, ...] = ()
    """One sentence each: why the status is what it is."""
    detail: str = ""
    """Longer text for a failure: the mismatch, the traceback, the compiler's first errors."""
    notes: tuple[str, ...] = ()
    """Findings and remarks that did not decide."""
    measurements: tuple[Measurement, ...] = ()
    rounds: int = 0
    device: str = ""
    device_uuid: str = ""
    size: str = ""
    dtype: str = ""
    walls: tuple[str, ...] = ()
    """The walls that were up around the contender."""
    missing_walls: tuple[str, ...] = ()
    """``"wall: reason"`` for each that the machine could not raise."""
    build_s: float = 0.0
    build_cached: bool = False
    judge_s: float = 0.0
    log: str = ""
    """File with the whole output of build or contender, if one was kept."""
    control: Measurement | None = None
    """The reference against itself, once a session and device; rides on the first verdict."""
    kernels: dict[str, float] = field(default_factory=dict)
    """Share of device (or operator) time by kernel name."""
    roofline: Roofline | None = None
    """None where no roof was measured: on a CPU, and where nothing was timed."""
    previous: Measurement | None = None
    """``--kb-compare``: timed in turns with its own earlier source; above 1 it became faster."""
    provenance: Provenance | None = None
    """None where nothing was judged."""
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """What a solution wrote is text: it must not command the terminal on which it is shown.

        Nor must what it is called, or what a file of records says.
        """
        shown = {
            "reasons": tuple(map(printable, self.reasons)),
            "notes": tuple(map(printable, self.notes)),
            "detail": printable(self.detail),
            "kernels": {printable(name): share for name, share in self.kernels.items()},
        }
        for name, value in shown.items():
            object.__setattr__(self, name, value)
        _spell_out(self, "problem", "entrant", "device", "device_uuid", "size", "dtype", "log")
        _spell_out(self, "walls", "missing_walls")
        if not showable(self.solution):  # else it stays: it is opened again
            _spell_out(self, "solution")

    @property
    def measurement(self) -> Measurement | None:
        """The deciding measurement: against the first baseline."""
        return self.measurements[0] if self.measurements else None

    @property
    def title(self) -> str:
        """``level1/019_relu by ann``, with the sample if it is not the first."""
        sample = f", sample {self.sample}" if self.sample else ""
        return f"level{self.level}/{self.number:03d}_{self.problem} by {self.entrant}{sample}"

    def faster_than(self, p: float) -> bool:
        """Whether the solution is right and, by its lower bound, over ``p`` times as fast."""
        shown = bool(self.measurements) and all(m.low > p for m in self.measurements[:1])
        return self.status.right and shown

    def to_builtins(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers, as pytest-xdist and JSON want them."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_builtins(cls, plain: object) -> Verdict:
        """The inverse of ``to_builtins``; raises ``msgspec.ValidationError`` on anything else."""
        return msgspec.convert(plain, cls)
