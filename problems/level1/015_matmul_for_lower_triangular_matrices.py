"""Product of two lower triangular M x M matrices."""

import torch
from torch import nn

M = 4096

SMOKE = {"M": 131}
SHAPES = [
    {"M": 512},
    {"M": 1021},
    {"M": 2048},
]
FAMILIES = ("negated", "large", "small", "mixed")  # a fresh normal tensor would not be triangular


class Model(nn.Module):
    """C = tril(A B) with A and B lower triangular."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.tril(torch.matmul(A, B))


def get_inputs() -> list:
    return [torch.tril(torch.randn(M, M)), torch.tril(torch.randn(M, M) * M**-0.5)]


def get_init_inputs() -> list:
    return []
