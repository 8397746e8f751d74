"""Shared host memory as tensors."""

from __future__ import annotations

import ctypes
import mmap
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_kernelbench.judge.wire import Span

_POPULATE_READ = 22  # MADV_POPULATE_READ, Linux 5.14
_DTYPES = {
    str(value).removeprefix("torch."): value
    for value in vars(torch).values()
    if isinstance(value, torch.dtype)
}


def dtype(name: str) -> torch.dtype:
    """``float32`` to ``torch.float32``."""
    return _DTYPES[name]


class Sheet:
    """A private, writable view of a sealed memory file: what is written stays in this process."""

    def __init__(self, fd: int, size_bytes: int) -> None:
        self.map = mmap.mmap(
            fd, max(size_bytes, 1), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE
        )
        try:  # noqa: SIM105 - the clock runs: no context manager
            self.map.madvise(_POPULATE_READ)
        except OSError:
            pass  # an older kernel: pages fault in on first use, on every side alike
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def tensors(self, spans: Sequence[Span]) -> list[torch.Tensor]:
        """One tensor a span; the memory lives as long as any of them."""
        return [self._tensor(span) for span in spans]

    def _tensor(self, span: Span) -> torch.Tensor:
        kind = _DTYPES[span.dtype]
        if span.size_bytes == 0:
            return torch.empty(span.shape, dtype=kind)
        flat = torch.frombuffer(
            self.map, dtype=torch.uint8, count=span.size_bytes, offset=span.offset
        )
        return flat.view(kind).view(span.shape)
