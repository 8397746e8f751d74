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
