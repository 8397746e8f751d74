"""Memory that nobody has written yet reads as zero."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode  # no public way to see every operator

_UNINITIALIZED = frozenset({
    torch.ops.aten.empty,
    torch.ops.aten.empty_like,
    torch.ops.aten.empty_permuted,
    torch.ops.aten.empty_strided,
    torch.ops.aten.new_empty,
    torch.ops.aten.new_empty_strided,
})  # fmt: skip


class Zeroed(TorchDispatchMode):
    """Within it ``torch.empty`` and its like give zeros."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run ``func``, and zero what it allocates."""
        made = func(*args, **(kwargs or {}))
        unwritten = func.overloadpacket in _UNINITIALIZED and not made.is_quantized
        return made.zero_() if unwritten else made
