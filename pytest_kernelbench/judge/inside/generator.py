"""Inputs of a call from base inputs and the key on the device; digests of outputs.

Shared by runner and oracle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from pytest_kernelbench.judge.inside.memory import dtype
from pytest_kernelbench.judge.inside.modes import COPY, NUMBERS, PICK, VARIANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.judge.inside.driver import Protocol
    from pytest_kernelbench.judge.wire import Span

KINDS = {"float32": 1, "float64": 2, "float16": 3, "bfloat16": 4}
_THREADS = 256
_MOST_BLOCKS = 132 * 16
STATE_BYTES = 64
NOISE_LEAF = 255
"""The place of the flush buffer among the outputs of a call: behind all of them."""

_empty = torch.empty
_Generator = torch.Generator
_random = torch.Tensor.random_


def blocks_for(items: int) -> int:
    """Blocks of a grid-stride kernel over ``items``."""
    return max(1, min(_MOST_BLOCKS, -(-items // _THREADS)))


@dataclass(frozen=True)
class Recipe:
    """The launch arguments of one input."""

    span: Span
    mode: str
    base: torch.Tensor
    """All variants, one behind the other, as bytes."""

    @property
    def row_bytes(self) -> int:
        """What ``pick`` takes as one: a row along the first axis."""
        rows = self.span.shape[0] if self.span.shape else 1
        return max(1, self.span.size_bytes // max(1, rows))


def make_base(spans: Sequence[Span], modes: Sequence[str], device: str) -> list[Recipe]:
    """Room for base inputs."""
    return [
        Recipe(
            span,
            mode,
            _empty(max(1, span.size_bytes) * VARIANTS[mode], dtype=torch.uint8, device=device),
        )
        for span, mode in zip(spans, modes, strict=True)
    ]


def generate(
    protocol: Protocol, recipes: Sequence[Recipe], state: int, device: str
) -> list[torch.Tensor]:
    """Fresh tensors with the inputs that the key in ``state`` makes."""
    tensors = []
    for index, recipe in enumerate(recipes):
        span = recipe.span
        kind = dtype(span.dtype)
        out = _empty(span.shape, dtype=kind, device=device)
        tensors.append(out)
        if span.size_bytes == 0:
            continue
        bytewise = recipe.mode in (COPY, PICK)
        size = span.size_bytes if bytewise else span.size_bytes // kind.itemsize
        protocol.generate(
            blocks_for(size // (16 if bytewise else 4)),
            _THREADS,
            out.data_ptr(),
            recipe.base.data_ptr(),
            size,
            NUMBERS[recipe.mode],
            KINDS.get(span.dtype, 0),
            span.shape[-1] if span.shape else 1,
            recipe.row_bytes,
            span.size_bytes,
            VARIANTS[recipe.mode],
            index,
            state,
        )
    return tensors


def make_noise(size_bytes: int, seed: int, device: str) -> torch.Tensor:
    """The flush buffer: bytes that cannot be known by less work than reading them.

    The same for the same seed, in whatever process.
    """
    drawn = _Generator(device)
    drawn.manual_seed(seed)
    return _random(_empty(size_bytes // 8, dtype=torch.int64, device=device), generator=drawn)


def flush(protocol: Protocol, noise: int, size_bytes: int, state: int) -> None:
    """Read more than the L2 cache holds, so that the next forward starts from memory.

    What was read is part of the call's digest.
    """
    add_to_digest(protocol, noise, size_bytes, 0, NOISE_LEAF, state)


def add_to_digest(  # noqa: PLR0913, PLR0917 - as the kernel takes them
    protocol: Protocol, address: int, size_bytes: int, offset: int, leaf: int, state: int
) -> None:
    """Add bytes to the sums in ``state``.

    ``offset`` (a multiple of 16) is their place in leaf ``leaf``.
    """
    chunks = -(-size_bytes // 16)
    protocol.digest(
        blocks_for(chunks), _THREADS, address, size_bytes, offset // 16, leaf, 0, 0, state, 0
    )


def finish_digest(  # noqa: PLR0913, PLR0917 - as the kernel takes them
    protocol: Protocol,
    address: int,
    size_bytes: int,
    leaf: int,
    call: int,
    state: int,
    control: int,
) -> None:
    """Add the last leaf and close the call: its digest to the referee, the next key follows."""
    chunks = -(-size_bytes // 16)
    protocol.digest(
        blocks_for(chunks), _THREADS, address, size_bytes, 0, leaf, 1, call, state, control
    )
