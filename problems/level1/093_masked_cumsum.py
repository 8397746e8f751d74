"""Running sum along the rows over the entries that a mask lets through."""

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
    """Entry i is the sum of the entries up to and with i where mask is true."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x * mask, dim=self.dim)


def get_inputs() -> list:
    # Scaled so that a whole row sums to a number near 1.
    x = torch.randn(BATCH_SIZE, LENGTH).mul_(LENGTH**-0.5)
    mask = torch.empty(BATCH_SIZE, LENGTH, dtype=torch.bool).bernoulli_(0.5)
    return [x, mask]


def get_init_inputs() -> list:
    return [DIM]
