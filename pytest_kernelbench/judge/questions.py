"""What the referee asks the oracle, and what it answers.

The oracle is trusted: it never loads a solution.
"""

from __future__ import annotations

from pytest_kernelbench.judge.wire import Attach, Done, Leaf, Message, PlainValue, Span


class Prepare(Message, frozen=True):
    """Load a problem at one size; answered by ``Prepared`` or ``Refused``.

    The state's memory comes with ``Prepared``.
    """

    path: str
    size: str
    """``full``, ``smoke`` or ``shape0``, ``shape1``, ..."""
    device: str
    dtype: str
    """``fp32``, ``fp16`` or ``bf16``."""
    seed: int
    atol: float
    rtol: float
    tf32: bool
    threads: int


class Prepared(Message, frozen=True):
    """What runners need to know of a problem, and what the referee needs to plan.

    One descriptor: the state.
    """

    overrides: dict[str, PlainValue]
    pickled_init: bytes
    construct_on_device: bool
    state_names: tuple[str, ...]
    state: tuple[Span, ...]
    state_bytes: int
    structure: str
    outputs: tuple[Span, ...]
    """Contiguous forms of the outputs, one behind the other."""
    expanded: tuple[bool, ...]
    """Whether elements of the reference's own output share memory: a solution's may, too."""
    pickled_layout: bytes
    inputs: tuple[Span, ...]
    inputs_bytes: int
    modes: tuple[str, ...]
    """How the keyed generator may vary each input; see ``variation.mode_of``."""
    draws_random: bool
    mutates: bool
    """The reference changes its own inputs."""
    families: tuple[str, ...]
    forward_us: float
    """About how long one forward of the reference takes."""
    launches: int
    """About how many operators one forward of the reference runs."""
    native: bool
    hidden: str
    """Which step of the reference its inputs cannot show, so that other families must; or empty."""
    notes: tuple[str, ...]
    flops: float
    """Of one forward: matrix products, convolutions and attention, by torch's own counter."""
    l2_bytes: int
    """The device's last cache (0 on a CPU)."""
    free_bytes: int
    """The device's free memory while nothing but the oracle's context is on it (0 on a CPU)."""


class Refused(Message, frozen=True):
    """The problem cannot judge anything (``bad_problem``), or not here (``skipped``)."""

    status: str
    reason: str
    detail: str = ""


class Draw(Message, frozen=True):
    """Make the inputs of a round from a secret seed; answered by ``Drawn``.

    On the CPU their memory comes with it.
    """

    number: int
    seed: int
    family: str


class Drawn(Message, frozen=True):
    """Inputs are made. ``usable`` is false where the reference is not finite on them."""

    spans: tuple[Span, ...]
    size_bytes: int
    usable: bool


class Compare(Message, frozen=True):
    """Compare outputs that lie in the referee's memory with the expected ones.

    One descriptor: the arena.
    """

    number: int
    leaves: tuple[Leaf, ...]
    """``pointer`` is the offset in the arena."""
    rng: int | None
    closely: bool = False
    """Hold it against float64 too, where the inputs are the problem's own."""


class Compared(Message, frozen=True):
    """The finding on one round: empty ``status`` if every element agrees."""

    status: str
    reason: str
    detail: str
    notes: tuple[str, ...] = ()


class Share(Message, frozen=True):
    """Make device memory for handing over tensors to runner ``slot``.

    Answered by ``Shared`` (one descriptor).
    """

    slot: int
    size_bytes: int


class Shared(Message, frozen=True):
    """The memory's real size."""

    size_bytes: int


class Fill(Message, frozen=True):
    """Put bytes of input ``tensor`` of draw ``number`` into the arena; answered by ``Done``."""

    slot: int
    number: int
    tensor: int
    offset: int
    size_bytes: int


class Same(Message, frozen=True):
    """Find out whether input ``tensor`` is as drawn; answered by ``Compared``.

    Its bytes after a forward lie in the arena.
    """

    slot: int
    number: int
    tensor: int
    offset: int
    size_bytes: int


class Varied(Message, frozen=True):
    """Round ``number`` has the inputs generated from draws ``bases`` under ``key``."""

    number: int
    bases: tuple[int, ...]
    key: tuple[int, int]


class Expect(Message, frozen=True):
    """Hold the expected outputs of round ``number`` for ``Check``; answered by ``Done``."""

    number: int
    leaves: tuple[Leaf, ...]
    rng: int | None
    key: tuple[int, int]
    """The key of the call, under which its digest was made."""
    flush_bytes: int
    flush_seed: int
    """The noise that was read before the call, which is part of its digest."""
    closely: bool = False
    """As for ``Compare``."""


class Check(Message, frozen=True):
    """Bytes of output ``leaf`` lie in the arena; answered by ``Done``.

    They are ``[offset, offset + size)`` of it.
    """

    slot: int
    leaf: int
    offset: int
    size_bytes: int


class Conclude(Message, frozen=True):
    """All bytes are there: answered by ``Concluded``."""


class Concluded(Message, frozen=True):
    """The digest over the bytes, and whether they agree with the expected ones."""

    digest: tuple[int, int]
    found: Compared


class MeasureRates(Message, frozen=True):
    """Measure the device's memory bandwidth and matrix rates; answered by ``Rates``.

    It takes about a second.
    """


class Rates(Message, frozen=True):
    """The best of several trials each."""

    bandwidth_bytes_per_s: float
    flops_per_s: dict[str, float]


class Forget(Message, frozen=True):
    """Leave the device's memory to others; answered by ``Done``."""


ToOracle = (
    Prepare
    | Draw
    | Compare
    | Share
    | Fill
    | Same
    | Varied
    | Expect
    | Check
    | Conclude
    | Forget
    | Attach
    | MeasureRates
)
FromOracle = Prepared | Refused | Drawn | Compared | Shared | Concluded | Rates | Done
