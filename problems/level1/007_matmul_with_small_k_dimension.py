"""Product of an M x K and a K x N matrix with K far smaller than M and N."""

import torch
from torch import nn

M = 32768
N = 32768
K = 64

SMOKE = {"M": 301, "N": 259, "K": 19}
SHAPES = [
    {"M": 2048, "N": 1024, "K": 32},
    {"M": 3001, "N": 2003, "K": 61},
    {"M": 16384, "N": 16384, "K": 64},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(M, K), torch.randn(K, N) * K**-0.5]


def get_init_inputs() -> list:
    return []
