"""What sees every operator that runs within it."""

from __future__ import annotations

from typing import Any

import torch

# "Extending PyTorch" documents this mode by this path; there is no other.
from torch.utils._python_dispatch import TorchDispatchMode

_UNINITIALIZED = frozenset({
    torch.ops.aten.empty,
    torch.ops.aten.empty_like,
    torch.ops.aten.empty_permuted,
    torch.ops.aten.empty_strided,
    torch.ops.aten.new_empty,
    torch.ops.aten.new_empty_strided,
})  # fmt: skip


class OperatorMode(TorchDispatchMode):
    """Without torch's compiler, which torch 2.11 imports in every other mode (a second or more)."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch's is untyped

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Zeroed(OperatorMode):
    """Within it ``torch.empty`` and its like give zeros: what was in that memory is not seen."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run ``func``, and zero what it allocates."""
        made = func(*args, **(kwargs or {}))
        unwritten = func.overloadpacket in _UNINITIALIZED and not made.is_quantized
        return made.zero_() if unwritten else made


class WideConvolutions(OperatorMode):
    """Within it convolutions in float16 on a CPU are computed in float32, and rounded to float16.

    As devices do it: products of halves are exact in float32, in which they add up. torch's own way
    on a CPU without arithmetic in float16 takes many times as long for the same.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run ``func``, on wide copies of what it is given if it is such a convolution."""
        kwargs = kwargs or {}
        if func.overloadpacket is torch.ops.aten.convolution:
            given = args[0]
            if given.dtype == torch.float16 and given.device.type == "cpu":
                return func(*map(_widened, args), **kwargs).to(given.dtype)
        return func(*args, **kwargs)


def _widened(argument: Any) -> Any:
    return argument.float() if isinstance(argument, torch.Tensor) else argument
