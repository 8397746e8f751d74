"""Swish."""

import torch
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
    """x sigmoid(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).mul_(3)]


def get_init_inputs() -> list:
    return []
