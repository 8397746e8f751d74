"""Input families: what else a kernel must get right beside the inputs its problem draws.

``plain`` is ``get_inputs()`` itself. The others transform its floating-point tensors alone, where
the problem's ``FAMILIES`` allow: they uncover skipped branches (``negated``), lower precision
(``zero_mean``: sums cancel), missing range reduction (``large``) and terms dropped because they are
small (``small``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_kernelbench.judge.program import map_tensors

if TYPE_CHECKING:
    import torch

PLAIN, SMALL = "plain", "small"
_LARGE_SCALE = 30.0
_SMALL_SCALE = 1e-3


def transformed(arguments: list[Any], family: str) -> list[Any]:
    """``arguments`` as ``family`` would have them.

    ``zero_mean`` draws from the current generator state.
    """
    if family == PLAIN:
        return arguments
    return [map_tensors(value, lambda tensor: _change(tensor, family)) for value in arguments]


def _change(tensor: torch.Tensor, family: str) -> torch.Tensor:
    import torch

    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
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
}
