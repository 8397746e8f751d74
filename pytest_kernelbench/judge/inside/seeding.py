"""The one rule by which random generators are seeded, on every side."""

from __future__ import annotations

import random


def seed_everything(seed: int) -> None:
    """Seed each generator that a problem's or a solution's file may draw from."""
    import numpy as np
    import torch

    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - files draw from the legacy global generator
