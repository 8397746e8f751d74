"""Baselines beside ``torch.compile`` as it comes."""

from __future__ import annotations

from typing import Any

import torch


def max_autotune(model: torch.nn.Module) -> Any:
    """``torch.compile`` that tries more kernels, without CUDA graphs.

    They would return one buffer for every call.
    """
    return torch.compile(model, mode="max-autotune-no-cudagraphs")
