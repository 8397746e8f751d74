"""Tensors that differ from a draw in some stretches only, secret in place, length and way.

What changes every element alike is known by the first few numbers, and a kernel that knows it can
take a shortcut wherever it is not tried. Here some stretches are changed, each in one of several
ways, and all else is as drawn: what a few numbers are says nothing about the rest.
"""

from __future__ import annotations

import math
import random
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

_SHARE = 1 / 8
"""Of the slices that are changed. A kernel that looks at the first of them is caught in seven of
eight draws at least; many are changed, since one of a way may give nothing away (no sum overflows,
or no number is negative)."""
_FEWEST, _MOST = 16, 1024
"""Slices, where there are elements enough. Few could be guessed; each takes a few launches."""
_SLICE_ELEMENTS = 256
"""A slice has as many at least, so that the first numbers of a tensor lie in few of them."""
_SPOT_SHARE = 1 / 64
"""Of the elements, the most that one spot takes. It is mostly much shorter."""

Stretch = tuple[int, int]
"""First element and the one behind the last, in row-major order."""


def mixed(
    tensor: torch.Tensor,
    ways: Sequence[str],
    change: Callable[[torch.Tensor, str], torch.Tensor],
    *,
    spots: bool,
) -> torch.Tensor:
    """``tensor`` with some slices, or else a few ``spots``, changed in ``ways``.

    Each way has as many of them as any other, if there are enough. The current generator state
    decides which. One element alone is changed.
    """
    import torch

    if not tensor.numel() or not ways:
        return tensor
    chance = random.Random(int(torch.randint(2**62, (), device="cpu")))  # noqa: S311 - of a secret
    ways = chance.sample(ways, len(ways))
    if spots:
        stretches = _spots(tensor.numel(), len(ways), chance)
    else:
        stretches = _slices(tensor.shape, chance)
    whole = tensor.clone(memory_format=torch.contiguous_format)
    flat = whole.view(-1)
    for (start, stop), way in zip(stretches, cycle(ways), strict=False):
        flat[start:stop] = change(flat[start:stop], way)
    # With the strides it had; gigabytes are copied no more than once where they are usual ones.
    return whole if tensor.is_contiguous() else torch.empty_like(tensor).copy_(whole)


def _slices(shape: Sequence[int], chance: random.Random) -> list[Stretch]:
    """Some of equal slices in random order, at least one and never all.

    They are those of the first axis that has more than one index, unless these are too few (cut),
    too short, or too many (joined).
    """
    elements = math.prod(shape)
    most = min(_MOST, max(_FEWEST, elements // _SLICE_ELEMENTS))
    along = next((size for size in shape if size > 1), 1)
    count = min(elements, most, max(_FEWEST, along))
    chosen = [index for index in range(count) if chance.random() < _SHARE]
    if not chosen:
        chosen = [chance.randrange(count)]
    elif len(chosen) == count > 1:
        del chosen[chance.randrange(count)]
    chance.shuffle(chosen)
    return [(elements * index // count, elements * (index + 1) // count) for index in chosen]


def _spots(elements: int, ways: int, chance: random.Random) -> list[Stretch]:
    """One for each way, anywhere, of any order of magnitude in length: never all elements.

    A look at one number in each slice, or at numbers that lie evenly in all of a tensor, finds the
    changed slices. These it mostly does not find.
    """
    longest = max(1.0, elements * _SPOT_SHARE)
    found = []
    for _ in range(min(ways, max(1, elements - 1))):
        length = int(longest ** chance.random())
        start = chance.randrange(elements - length + 1)
        found.append((start, start + length))
    return found
