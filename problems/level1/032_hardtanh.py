"""Hard tanh."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 4096
DIM = 393216

SMOKE = {"BATCH_SIZE": 37, "DIM": 3001}
SHAPES = [
    {"BATCH_SIZE": 128, "DIM": 4096},
    {"BATCH_SIZE": 515, "DIM": 10007},
    {"BATCH_SIZE": 1024, "DIM": 393216},
]


class Model(nn.Module):
    """x clamped to [-1, 1]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.hardtanh(x, min_val=-1.0, max_val=1.0)


def get_inputs() -> list:
    # Half of the entries lies outside [-1, 1], where the clamp binds.
    return [torch.randn(BATCH_SIZE, DIM).mul_(1.5)]


def get_init_inputs() -> list:
    return []
