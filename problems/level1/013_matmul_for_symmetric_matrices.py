"""Product of two symmetric N x N matrices."""

import torch
from torch import nn

N = 4096

SMOKE = {"N": 131}
SHAPES = [
    {"N": 512},
    {"N": 1021},
    {"N": 2048},
]
FAMILIES = ("negated", "large", "small")  # nothing else leaves them symmetric


class Model(nn.Module):
    """C = A B with A and B symmetric."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def symmetric(n: int) -> torch.Tensor:
    """A symmetric n x n matrix with entries of variance 1 off the diagonal."""
    square = torch.randn(n, n)
    return (square + square.T) * 0.5**0.5


def get_inputs() -> list:
    return [symmetric(N), symmetric(N) * N**-0.5]


def get_init_inputs() -> list:
    return []
