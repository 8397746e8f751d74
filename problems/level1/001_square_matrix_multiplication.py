"""Product of two square N x N matrices."""

import torch
from torch import nn

N = 4096

SMOKE = {"N": 197}
SHAPES = [
    {"N": 512},
    {"N": 1021},
    {"N": 2048},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(N, N), torch.randn(N, N) * N**-0.5]


def get_init_inputs() -> list:
    return []
