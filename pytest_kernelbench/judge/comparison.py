"""Whether two tensors agree, and if not: where first, how many, how far.

An element is right if ``|got - expected| <= atol * min(1, rms(expected)) + rtol * |expected|``. The
scale makes the tolerance shrink with outputs that are small as a whole: no constant and no
zeros pass only because a problem's numbers happen to be tiny.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

BLOCK_ELEMENTS = 1 << 20
"""Elements compared at a time: 8 MiB in float64, and about eight such temporaries live at once."""

_QUICK = 1 << 24
"""Elements that are looked at in one piece."""
_SURE = 0.9
"""Of the tolerance: the rest is for the rounding of the look itself."""

Block = tuple[slice, ...]


@dataclass(frozen=True)
class Difference:
    """What ``compare`` found. Plain values only: tensors never travel in results."""

    elements: int
    wrong: int
    """Elements outside the tolerance."""
    first_index: tuple[int, ...] | None = None
    """Of the first wrong element in row-major order."""
    got: float | None = None
    expected: float | None = None
    max_abs: float = 0.0
    """Largest ``|got - expected|`` where both are finite."""
    rms: float = 0.0
    """Root mean square of the finite expected elements."""
    used: float = 0.0
    """Largest error as a share of what its element allows: at most 1 if all finite ones agree."""
    unmatched_nonfinite: int = 0
    """Elements wrong because a NaN or infinity stands on one side only, or with another sign."""

    @property
    def agrees(self) -> bool:
        """Whether every element is right."""
        return self.wrong == 0

    @property
    def scaled(self) -> float:
        """``max_abs`` in units of ``rms``: comparable between problems."""
        if self.max_abs == 0.0:
            return 0.0
        return self.max_abs / self.rms if self.rms else math.inf

    def __str__(self) -> str:
        """One line for people: how many differ, where first, how far."""
        if self.agrees:
            return f"all {self.elements} elements agree (largest difference {self.max_abs:.3g})"
        share = 100 * self.wrong / self.elements
        text = (
            f"{self.wrong} of {self.elements} elements differ ({share:.3g} %); first at "
            f"{list(self.first_index or ())}: got {self.got!r}, expected {self.expected!r}; "
            f"largest difference {self.max_abs:.3g} ({self.scaled:.2g} of the output's RMS)"
        )
        if 1.0 < self.used < math.inf:
            text += f"; at worst {self.used:.2g} times what is allowed"
        if self.unmatched_nonfinite:
            text += f"; {self.unmatched_nonfinite} NaN or infinite on one side only"
        return text


def compare(got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float) -> Difference:
    """Compare two tensors of the same shape, block by block, on the device of ``expected``.

    Integers and booleans must be equal. NaN equals NaN only where ``expected`` has it; infinities
    must match in sign. Complex numbers are compared part by part (one more index, 0 or 1).
    Beside the two tensors it needs about 64 MiB, whatever their size or strides, and it waits for
    the device once or twice. Raises ``ValueError`` if the shapes differ.
    """
    if got.shape != expected.shape:
        message = f"cannot compare shapes {list(got.shape)} and {list(expected.shape)}"
        raise ValueError(message)
    if expected.numel() == 0:
        return Difference(elements=0, wrong=0)
    got, expected = real_parts(got), real_parts(expected)
    blocks = list(_blocks(expected.shape))
    rms = _rms(expected, blocks)
    atol *= min(1.0, rms)
    wrong, unmatched, max_abs, used = _findings(got, expected, blocks, atol, rtol)
    total = int(sum(wrong))
    difference = Difference(
        elements=expected.numel(),
        wrong=total,
        max_abs=max(max_abs),
        rms=rms,
        used=max(used),
        unmatched_nonfinite=int(sum(unmatched)),
    )
    if total == 0:
        return difference
    block = blocks[next(i for i, count in enumerate(wrong) if count)]
    index = _first_wrong(got, expected, block, atol, rtol)
    return replace(
        difference, first_index=index, got=got[index].item(), expected=expected[index].item()
    )


def surely_agrees(got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float) -> bool:
    """A look in the tensors' own precision, several times as quick as ``compare``.

    True only where that finds agreement, too; False says nothing.
    """
    import torch

    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    if expected.dtype not in (torch.float32, torch.float64) or not 0 < expected.numel() <= _QUICK:
        return False
    rms = float(torch.linalg.vector_norm(expected)) / math.sqrt(expected.numel())
    if not math.isfinite(rms):  # as it is where one element is not
        return False
    allowed = expected.abs().mul_(_SURE * rtol).add_(_SURE * atol * min(1.0, rms))
    return bool(((got - expected).abs_() <= allowed).all())


def agrees(got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float) -> bool:
    """Whether all elements agree, where nobody asks how they differ."""
    return compare(got, expected, atol=atol, rtol=rtol).agrees


def _blocks(shape: Sequence[int]) -> Iterator[Block]:
    """Cut ``shape`` into blocks in row-major order, each a view of whatever strides there are."""
    axis, inner = len(shape), 1
    while axis > 0 and inner * shape[axis - 1] <= BLOCK_ELEMENTS:
        axis -= 1
        inner *= shape[axis]
    if axis == 0:
        yield tuple(slice(0, size) for size in shape)
        return
    axis -= 1
    step = max(1, BLOCK_ELEMENTS // inner)
    trailing = tuple(slice(0, size) for size in shape[axis + 1 :])
    for leading in itertools.product(*(range(size) for size in shape[:axis])):
        for start in range(0, shape[axis], step):
            along = slice(start, min(start + step, shape[axis]))
            yield (*(slice(i, i + 1) for i in leading), along, *trailing)


def real_parts(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as one of real numbers, with one more index: 0 or 1."""
    import torch

    tensor = tensor.detach()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _rms(expected: torch.Tensor, blocks: Sequence[Block]) -> float:
    """Root mean square of the finite elements, accumulated in float64."""
    import torch

    sums = []
    for block in blocks:
        part = expected[block].double()
        finite = part.isfinite()
        squares = part.where(finite, 0.0).square().sum()
        sums.append(torch.stack([squares, finite.sum().double()]))
    squares_sum, count = torch.stack(sums).sum(dim=0).tolist()
    return math.sqrt(squares_sum / count) if count else 0.0


def _findings(
    got: torch.Tensor, expected: torch.Tensor, blocks: Sequence[Block], atol: float, rtol: float
) -> list[list[float]]:
    """Per block: wrong, unmatched, largest difference, largest share of the tolerance used."""
    import torch

    rows = []
    for block in blocks:
        error, limit, wrong, unmatched = _errors(got[block], expected[block], atol, rtol)
        used = (error / limit).where(error > 0, 0.0)
        counts = torch.stack([wrong.sum(), unmatched.sum()]).double()
        rows.append(torch.cat([counts, torch.stack([error.amax(), used.amax()])]))
    columns: list[list[float]] = torch.stack(rows).T.tolist()
    return columns


def _errors(
    got: torch.Tensor, expected: torch.Tensor, atol: float, rtol: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Elementwise: error and limit (float64), wrong and unmatched (bool)."""
    import torch

    got = got.to(expected.device)
    exact = not (got.is_floating_point() or expected.is_floating_point())
    differ = got != expected  # before float64, which cannot hold every int64
    ours, theirs = got.double(), expected.double()
    finite = ours.isfinite() & theirs.isfinite()
    error = (ours - theirs).abs_().where(finite, 0.0)
    if exact:
        return error, torch.zeros_like(error), differ, torch.zeros_like(differ)
    limit = theirs.abs().mul_(rtol).add_(atol)
    unmatched = ~finite & differ & ~(ours.isnan() & theirs.isnan())
    return error, limit, (error > limit) | unmatched, unmatched


def _first_wrong(
    got: torch.Tensor, expected: torch.Tensor, block: Block, atol: float, rtol: float
) -> tuple[int, ...]:
    _, _, wrong, _ = _errors(got[block], expected[block], atol, rtol)
    flat = int(wrong.flatten().byte().argmax())
    index: list[int] = []
    for part, size in zip(reversed(block), reversed(wrong.shape), strict=True):
        flat, position = divmod(flat, size)
        index.append(part.start + position)
    return tuple(reversed(index))
