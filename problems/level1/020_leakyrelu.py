"""Leaky ReLU."""

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
    """x where x is positive, negative_slope * x elsewhere."""

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(x, negative_slope=self.negative_slope)


def get_inputs() -> list:
    # Wide enough for the slope of 0.01 to show above a tolerance of 1e-2.
    return [torch.randn(BATCH_SIZE, DIM).mul_(10)]


def get_init_inputs() -> list:
    return []
