"""Product of two upper triangular N x N matrices."""

import torch
from torch import nn

N = 4096

SMOKE = {"N": 131}
SHAPES = [
    {"N": 512},
    {"N": 1021},
    {"N": 2048},
]
FAMILIES = ("negated", "large", "small", "mixed")  # a fresh normal tensor would not be triangular


class Model(nn.Module):
    """C = triu(A B) with A and B upper triangular."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.triu(torch.matmul(A, B))


def get_inputs() -> list:
    return [torch.triu(torch.randn(N, N)), torch.triu(torch.randn(N, N) * N**-0.5)]


def get_init_inputs() -> list:
    return []
