"""Running product along the rows.

Changed: factors lie near 1 and near -1 instead of in [0, 1). Products of uniform numbers vanish
after about a hundred of 32768 columns, so that the rest of the output was zero; now all columns are
of the order of 1.
"""

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
DTYPES = ("fp32",)  # thousands of roundings to 8 or 11 bits leave nothing of the product
FAMILIES = ("negated", "mixed")  # any other scale over- or underflows within a few dozen places


class Model(nn.Module):
    """Entry i is the product of the entries up to and with i."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumprod(x, dim=self.dim)


def get_inputs() -> list:
    # Logarithms of the factors' sizes add up to a number near 1 over a whole row.
    factor = torch.randn(BATCH_SIZE, LENGTH).mul_(LENGTH**-0.5).exp_()
    negative = torch.empty(BATCH_SIZE, LENGTH, dtype=torch.bool).bernoulli_(0.5)
    return [torch.where(negative, -factor, factor)]


def get_init_inputs() -> list:
    return [DIM]
