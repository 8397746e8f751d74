"""Where inputs and outputs lie beside each other, in memory that nobody can change."""

from __future__ import annotations

import mmap
import os

import pytest
import torch

from pytest_kernelbench.judge.spans import contiguous_spans, sealed_memory
from pytest_kernelbench.judge.wire import Span

TENSORS = [
    torch.arange(6, dtype=torch.float32).view(2, 3).T,
    torch.zeros(0, 5, dtype=torch.bfloat16),
    torch.tensor(7),
    torch.arange(300, dtype=torch.uint8),
    torch.tensor([True]).expand(4),
]


def test_each_begins_at_a_round_place_behind_the_one_before() -> None:
    spans, size_bytes = contiguous_spans(TENSORS)
    assert spans == (
        Span("float32", (3, 2), 0, 24),
        Span("bfloat16", (0, 5), 256, 0),
        Span("int64", (), 256, 8),
        Span("uint8", (300,), 512, 300),
        Span("bool", (4,), 1024, 4),
    )
    assert size_bytes == 1280


def test_of_nothing_there_is_nothing() -> None:
    assert contiguous_spans([]) == ((), 0)


def test_the_bytes_are_there_in_order_and_stay() -> None:
    spans, size_bytes = contiguous_spans(TENSORS)
    fd = sealed_memory(TENSORS, spans, size_bytes)
    try:
        for tensor, span in zip(TENSORS, spans, strict=True):
            raw = os.pread(fd, span.size_bytes, span.offset)
            assert raw == bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist())
        for change in (
            lambda: os.pwrite(fd, b"x", 0),
            lambda: os.ftruncate(fd, size_bytes + 1),
            lambda: os.ftruncate(fd, 0),
            lambda: mmap.mmap(fd, size_bytes, mmap.MAP_SHARED, mmap.PROT_WRITE),
        ):
            with pytest.raises(PermissionError):
                change()
    finally:
        os.close(fd)
