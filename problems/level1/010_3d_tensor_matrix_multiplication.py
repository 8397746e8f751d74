"""Product of a stack of N matrices, M x K each, with one K x L matrix."""

import torch
from torch import nn

N = 16
M = 1024
K = 2048
L = 768

SMOKE = {"N": 3, "M": 37, "K": 71, "L": 53}
SHAPES = [
    {"N": 4, "M": 128, "K": 256, "L": 192},
    {"N": 5, "M": 257, "K": 515, "L": 131},
    {"N": 4},
]


class Model(nn.Module):
    """C[n] = A[n] B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(N, M, K), torch.randn(K, L) * K**-0.5]


def get_init_inputs() -> list:
    return []
