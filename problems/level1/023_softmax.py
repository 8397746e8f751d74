"""Softmax over the rows of a matrix.

Changed: entries are normal with deviation 4 instead of uniform on [0, 1). Uniform ones spread each
row evenly over its 393216 places, so that every output was below 5e-6 and zeros passed at 1e-4; now
some places of each row hold several percent of its weight.
"""

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
    """exp(x) divided by its sum over dim 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).mul_(4)]


def get_init_inputs() -> list:
    return []
