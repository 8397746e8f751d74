"""A quick look at two tensors on a device: one kernel, one pass over both, whatever their size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from pytest_kernelbench.judge.comparison import Difference, compare
from pytest_kernelbench.judge.inside.generator import KINDS, blocks_for

if TYPE_CHECKING:
    from pytest_kernelbench.judge.inside.driver import Protocol

_THREADS = 256


class QuickLook:
    """``comparison.compare`` for dense float tensors on a device; the same rule, the same numbers.

    Where they differ, or are of another kind or layout, the full comparison says where and how.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol

    def __call__(
        self, got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float
    ) -> Difference:
        """As ``comparison.compare``."""
        if not self._quick(got, expected):
            return compare(got, expected, atol=atol, rtol=rtol)
        first = self._findings(got, expected, 0.0, 0.0)
        if atol == rtol == 0.0:
            return first
        scaled = atol * min(1.0, first.rms)
        if self._findings(got, expected, scaled, rtol).wrong:
            return compare(got, expected, atol=atol, rtol=rtol)
        return replace(first, wrong=0)

    def agrees(
        self, got: torch.Tensor, expected: torch.Tensor, *, atol: float, rtol: float
    ) -> bool:
        """Whether all elements agree: never asks where they do not."""
        if not self._quick(got, expected):
            return compare(got, expected, atol=atol, rtol=rtol).agrees
        rms = self._findings(got, expected, 0.0, 0.0).rms
        return self._findings(got, expected, atol * min(1.0, rms), rtol).wrong == 0

    @staticmethod
    def _quick(got: torch.Tensor, expected: torch.Tensor) -> bool:
        return (
            got.is_cuda
            and expected.is_cuda
            and got.numel() > 0
            and got.shape == expected.shape
            and got.is_contiguous()
            and expected.is_contiguous()
            and all(str(t.dtype).removeprefix("torch.") in KINDS for t in (got, expected))
        )

    def _findings(
        self, got: torch.Tensor, expected: torch.Tensor, atol: float, rtol: float
    ) -> Difference:
        found = torch.zeros(4, dtype=torch.int64, device=expected.device)
        kinds = [KINDS[str(tensor.dtype).removeprefix("torch.")] for tensor in (got, expected)]
        count = expected.numel()
        self._protocol.compare(
            blocks_for(count),
            _THREADS,
            got.data_ptr(),
            expected.data_ptr(),
            count,
            *kinds,
            atol,
            rtol,
            found.data_ptr(),
        )
        host = found.cpu()
        wrong, _, _, finite = host.tolist()
        _, max_abs, squares, _ = host.view(torch.float64).tolist()
        rms = math.sqrt(squares / finite) if finite else 0.0
        return Difference(elements=count, wrong=wrong, max_abs=max_abs, rms=rms)
