"""Running sum along the rows, from the end."""

import torch
from torch import nn

BATCH_SIZE = 32768
LENGTH = 32768
DIM = 1

SMOKE = {"BATCH_SIZE": 13, "LENGTH": 1021}
SHAPES = [
    {"BATCH_SIZE": 256, "LENGTH": 1024},
    {"BATCH_SIZE": 129, "LENGTH": 5003},
    {"BATCH_SIZE": 8192, "LENGTH": 32768},
]


class Model(nn.Module):
    """Entry i is the sum of the entries from i on."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)


def get_inputs() -> list:
    # Scaled so that a whole row sums to a number near 1.
    return [torch.randn(BATCH_SIZE, LENGTH).mul_(LENGTH**-0.5)]


def get_init_inputs() -> list:
    return [DIM]
