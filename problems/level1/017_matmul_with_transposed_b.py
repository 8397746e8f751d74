"""Product of an M x K matrix with the transpose of an N x K matrix."""

import torch
from torch import nn

M = 2048
K = 8192
N = 4096

SMOKE = {"M": 67, "K": 203, "N": 131}
SHAPES = [
    {"M": 256, "K": 512, "N": 768},
    {"M": 515, "K": 1031, "N": 389},
    {"M": 1024, "K": 4096, "N": 2048},
]


class Model(nn.Module):
    """C = A B^T."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B.T)


def get_inputs() -> list:
    return [torch.randn(M, K), torch.randn(N, K) * K**-0.5]


def get_init_inputs() -> list:
    return []
