"""Input families: what else a kernel must get right beside the inputs its problem draws.

``plain`` is ``get_inputs()`` itself. The others transform its floating-point tensors alone, where
the problem's ``FAMILIES`` allow: they uncover skipped branches (``negated``), lower precision
(``zero_mean``: sums cancel), missing range reduction (``large``) and terms dropped because they are
small (``small``).

Each of these changes every element alike, so that a look at the first numbers tells which it is.
``mixed`` changes stretches in several of these ways and leaves the rest as drawn: a shortcut that
is right on the problem's own inputs is wrong on those, whatever the first numbers are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_kernelbench.judge.mixing import mixed
from pytest_kernelbench.judge.program import ALL_FAMILIES, map_tensors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import torch

PLAIN, SMALL, MIXED = "plain", "small", "mixed"
SPOTTED = "spotted"
"""As ``mixed``, with a few short stretches: asked where a problem bears ``mixed``."""
MIXTURES = (MIXED, SPOTTED)
_MIXED_OF = ("negated", "zero_mean", "large")
"""No small ones: beside the others nothing would be seen of a term that is missing there."""
_MIXED_ROUNDS = (MIXED, MIXED, SPOTTED)
"""Which slices are changed is drawn each time: what is lucky once in eight draws is not so twice.
A round takes what one of any other family takes, a few calls of the reference."""
_LARGE_SCALE = 30.0
_SMALL_SCALE = 1e-3


def rounds(declared: Collection[str]) -> Iterator[str]:
    """The families to be tried, one a round, where a problem bears the ``declared`` ones."""
    for family in ALL_FAMILIES:
        if family in declared:
            yield from _MIXED_ROUNDS if family == MIXED else (family,)


def transformed(
    arguments: list[Any], family: str, declared: Collection[str] = ALL_FAMILIES
) -> list[Any]:
    """``arguments`` as ``family`` would have them, mixed of ``declared`` families only.

    ``zero_mean`` and the mixtures draw from the current generator state.
    """
    if family == PLAIN:
        return arguments
    ways = [each for each in _MIXED_OF if each in declared]

    def change(tensor: torch.Tensor) -> torch.Tensor:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor
        if family in MIXTURES:
            return mixed(tensor, ways, _change, spots=family == SPOTTED)
        return _change(tensor, family)

    return [map_tensors(value, change) for value in arguments]


def _change(tensor: torch.Tensor, family: str) -> torch.Tensor:
    import torch

    if tensor.itemsize == 1:  # torch does not calculate in eight bits
        return _change(tensor.float(), family).to(tensor.dtype)
    if family == "negated":
        return -tensor
    if family == "zero_mean":
        return torch.randn_like(tensor)
    if family == "large":
        return tensor * _LARGE_SCALE
    if family == SMALL:
        return tensor * _SMALL_SCALE
    raise ValueError(f"no input family is called {family!r}")


ADVICE = {
    "negated": "wrong or of lower precision for negative inputs",
    "zero_mean": "wrong or of lower precision where sums cancel (zero-mean inputs)",
    "large": "wrong or of lower precision for large inputs (30 times the usual)",
    SMALL: "wrong for small inputs (a thousandth of the usual)",
    MIXED: "wrong where parts of an input are unlike the rest (negated, zero-mean or large)",
    SPOTTED: "wrong where a few numbers are unlike the rest (negated, zero-mean or large)",
}
