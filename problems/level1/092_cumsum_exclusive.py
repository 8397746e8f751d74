"""Running sum along the rows, each entry left out of its own sum."""

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
    """Entry i is the sum of the entries before i; the first is 0."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.size(self.dim)
        sums = torch.cumsum(x.narrow(self.dim, 0, length - 1), dim=self.dim)
        first = torch.zeros_like(x.narrow(self.dim, 0, 1))
        return torch.cat((first, sums), dim=self.dim)


def get_inputs() -> list:
    # Scaled so that a whole row sums to a number near 1.
    return [torch.randn(BATCH_SIZE, LENGTH).mul_(LENGTH**-0.5)]


def get_init_inputs() -> list:
    return [DIM]
