"""Tensors side by side in sealed shared memory."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import TYPE_CHECKING

import torch

from pytest_kernelbench.judge.wire import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALIGN = 256


def contiguous_spans(tensors: Sequence[torch.Tensor]) -> tuple[tuple[Span, ...], int]:
    """Where each tensor would lie, contiguous and aligned; and the bytes of all."""
    spans, offset = [], 0
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        name = str(tensor.dtype).removeprefix("torch.")
        spans.append(Span(name, tuple(tensor.shape), offset, size))
        offset += -(-size // _ALIGN) * _ALIGN
    return tuple(spans), offset


def sealed_memory(tensors: Sequence[torch.Tensor], spans: Sequence[Span], size_bytes: int) -> int:
    """A memory file with the tensors' bytes that nobody can write, grow or shrink any more."""
    fd = os.memfd_create("kernelbench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, max(size_bytes, 1))
    with mmap.mmap(fd, max(size_bytes, 1)) as memory:
        for tensor, span in zip(tensors, spans, strict=True):
            if span.size_bytes:
                flat = torch.frombuffer(
                    memory, dtype=torch.uint8, count=span.size_bytes, offset=span.offset
                )
                meant = tensor.detach().resolve_conj().resolve_neg()  # bytes know neither
                flat.copy_(meant.contiguous().view(-1).view(torch.uint8))
                del flat
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd
