"""Division of each row by its Euclidean norm.

Changed: entries are cubes of normal numbers, each row with a size of its own, instead of uniform on
[0, 1). Uniform ones gave outputs below 0.007, so that zeros passed at 1e-2; now one in thirty lies
above that and the largest near 0.1.
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
    """x divided by the root of the sum of its squares over dim 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).pow_(3).mul_(0.1 + 0.4 * torch.rand(BATCH_SIZE, 1))]


def get_init_inputs() -> list:
    return []
