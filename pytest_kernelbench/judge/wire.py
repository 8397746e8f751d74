"""Every message between referee, oracle and runners: fixed schemas of plain values.

A runner is the baseline or the contender.

What comes from a contender is one of ``FromRunner``, decoded by type, bounded in size, and never
unpickled. ``bytes`` fields called ``pickled`` travel only *towards* a contender: they are made by
the oracle.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

NAME_LIMIT, MOST_ROWS = 400, 250
"""Characters of a name, rows of a profile: what is searched takes as long as it is long."""
Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=NAME_LIMIT)]
PlainValue: TypeAlias = int | float | str | bool | list[Any] | dict[str, Any] | None
"""What a constant of a problem's file can be set to."""


class Message(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Base of all messages."""


# --- tensors as numbers ---------------------------------------------------------------------------


class Span(Message, frozen=True):
    """A contiguous tensor at ``offset`` of a shared memory."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    size_bytes: int


class Leaf(Message, frozen=True):
    """A tensor somewhere in a runner: what ``forward`` returned."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    pointer: int
    device: str
    exact_type: bool
    """``type(x) is torch.Tensor``: a subclass could answer differently to every question."""


class Named(Message, frozen=True):
    """A parameter or buffer of a model."""

    name: str
    dtype: str
    shape: tuple[int, ...]


# --- referee to runner ----------------------------------------------------------------------------


class Construct(Message, frozen=True):
    """Import ``source``, construct ``entry`` under ``seed``; answer: ``Ready`` or ``Failed``."""

    source: str
    entry: str
    pickled_init: bytes
    overrides: dict[str, PlainValue]
    """Module constants to set after import (problems only)."""
    seed: int
    device: str
    dtype: str
    construct_on_device: bool
    extension: str
    """Folder with the built extension modules, or empty."""
    tf32: bool
    threads: int
    prepare: str = ""
    """``module:function`` that wraps the model for calling (baselines: ``torch:compile``)."""


class Adopt(Message, frozen=True):
    """Compare the model's state with the reference's; copy by name where it differs.

    One descriptor follows.
    """

    names: tuple[str, ...]
    spans: tuple[Span, ...]
    size_bytes: int


class Call(Message, frozen=True):
    """Call ``forward`` once on inputs in shared memory (one descriptor follows). CPU only."""

    pickled_layout: bytes
    spans: tuple[Span, ...]
    size_bytes: int
    rng: int | None
    """Seed to set before the forward, where the reference draws random numbers."""
    null: bool = False
    """Return prepared memory in place of calling ``forward``: what the protocol itself costs."""


class Outline(Message, frozen=True):
    """Shapes and dtypes that a null call returns; answered by ``Done``."""

    leaves: tuple[Span, ...]


class Profile(Message, frozen=True):
    """Call ``forward`` under a profiler, untimed; answered by ``Profiled``.

    On the CPU the inputs come as for ``Call``; on a device the runner makes them of its base
    inputs.
    """

    pickled_layout: bytes = b""
    spans: tuple[Span, ...] = ()
    size_bytes: int = 0
    rng: int | None = None


# --- runner to referee ----------------------------------------------------------------------------


class Ready(Message, frozen=True):
    """The model is constructed."""

    state: tuple[Named, ...]


class Adopted(Message, frozen=True):
    """Which entries of the state were copied from the reference because their values differed."""

    copied: tuple[str, ...]


class Returned(Message, frozen=True):
    """``forward`` came back. The tensors stay where they are until the next message."""

    structure: str
    leaves: tuple[Leaf, ...]
    inputs_at: int
    """Address of the inputs' memory in the runner (0 on a device)."""


class Done(Message, frozen=True):
    """Nothing more to say."""


class Failed(Message, frozen=True):
    """The runner's code raised.

    ``text`` is the traceback of the file's own frames, cut to 16 KiB.
    """

    stage: str
    """``import``, ``entry``, ``construct``, ``forward`` or ``output``."""
    error: str
    """The exception's type."""
    text: str
    missing_module: str = ""
    out_of_memory: bool = False
    device_error: bool = False
    """A CUDA error: the process is not to be used again."""
    needs_device: bool = False
    """There is no device here, and that is why; or Triton's interpreter lacks what one has."""


class Batched(Message, frozen=True):
    """A batch is over: the outputs' forms, and device events if asked for.

    Events are around each forward, in microseconds.
    """

    structure: str
    leaves: tuple[Leaf, ...]
    odd: int
    """How many calls returned another form than the first."""
    events_us: tuple[float, ...]


class Ran(Message, frozen=True):
    """What one forward spent on one kind of work, all its occurrences summed."""

    kind: Name
    """``kernel`` (on the device), or on the host: ``operator``, ``compiled`` (by torch.compile),
    ``call`` (of the solution's compiled code), ``triton`` (a kernel under Triton's interpreter)."""
    name: Name
    within: Name
    """The operator that launched a kernel, or empty."""
    time_us: float
    """Its own time, without that of what it called."""


class Profiled(Message, frozen=True):
    """Where one forward's time went, as the runner's own profiler tells it.

    Evidence for a flag, never for a score.
    """

    rows: Annotated[tuple[Ran, ...], msgspec.Meta(max_length=MOST_ROWS)]
    wall_us: float
    outside_us: float
    """Time of the calling thread in none of the host's rows.

    Nor is it spent waiting for operators of other threads.
    """
    own_code: tuple[str, ...]
    """Compiled code that neither torch nor Python nor an installed package brought."""
    converts: bool
    """Tensors were handed to NumPy or taken from it."""
    note: Name = ""
    """Why there is nothing above, if so."""
    refused: bool = False
    """Whether forward fails under the profiler, and there alone. The referee's to say."""
    crowded: float = 0.0
    """Which share of the processors others took in that time. Likewise the referee's to say."""


FromRunner = Ready | Adopted | Returned | Done | Failed | Batched | Profiled
"""All that a contender can say."""


# --- referee to runner: the device ----------------------------------------------------------------


class Attach(Message, frozen=True):
    """Map the control block (descriptor 1), load the protocol's kernels; answered by ``Done``."""

    cubin: bytes
    control_bytes: int
    flush_bytes: int
    flush_seed: int = 0
    """Makes the noise that a flush reads, which is part of each digest."""
    device: str = "cuda"
    """As torch calls it: a runner is attached before it constructs anything on it."""


class Arena(Message, frozen=True):
    """Map device memory that the oracle shares (one descriptor); answered by ``Done``."""

    size_bytes: int


class Base(Message, frozen=True):
    """Make room for base inputs; ``modes`` say how the keyed generator varies each.

    Answered by ``Done``.
    """

    pickled_layout: bytes
    spans: tuple[Span, ...]
    modes: tuple[str, ...]


class Piece(Message, frozen=True):
    """Bytes of base input ``tensor`` lie in the arena now; answered by ``Done``.

    They are ``[offset, offset + size)`` of it.
    """

    tensor: int
    variant: int
    offset: int
    size_bytes: int


class Release(Message, frozen=True):
    """Forget inputs, outputs and cached memory, but not the model; answered by ``Done``."""


class Move(Message, frozen=True):
    """As ``Release``; what is made from now on lies elsewhere; answered by ``Done``.

    ``spacer_bytes`` of device memory are held until the next ``Move``, and the flush buffer is made
    anew behind them.
    """

    spacer_bytes: int


class Batch(Message, frozen=True):
    """Enqueue ``calls`` hash-chained calls that wait for the key; answered by ``Batched``."""

    number: int
    calls: int
    rngs: tuple[int, ...]
    """A seed a call, or empty where the reference draws no random numbers."""
    events: bool
    null: bool
    inputs_too: bool
    """Keep the last call's inputs, so that the referee can see whether they were changed."""


class Reveal(Message, frozen=True):
    """Copy bytes of one kept output into the arena; answered by ``Done``.

    With ``call`` -1: of an input of the last call.
    """

    call: int
    leaf: int
    offset: int
    size_bytes: int


ToRunner = (
    Construct
    | Adopt
    | Call
    | Outline
    | Profile
    | Attach
    | Arena
    | Base
    | Piece
    | Release
    | Move
    | Batch
    | Reveal
)
