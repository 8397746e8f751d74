"""Division of each row by the mean of its absolute values.

Changed: each row has a size of its own; with the same distribution in all rows of 65535 entries one
fixed factor would have passed at 1e-2.
"""

import torch
from torch import nn

BATCH_SIZE = 32768
DIM = 65535

SMOKE = {"BATCH_SIZE": 37, "DIM": 2047}
SHAPES = [
    {"BATCH_SIZE": 256, "DIM": 1023},
    {"BATCH_SIZE": 1029, "DIM": 4096},
    {"BATCH_SIZE": 8192, "DIM": 65535},
]


class Model(nn.Module):
    """x divided by the mean of |x| over dim 1 (the mean, not the sum)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.mean(torch.abs(x), dim=1, keepdim=True)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).mul_(0.5 + 1.5 * torch.rand(BATCH_SIZE, 1))]


def get_init_inputs() -> list:
    return []
