"""Batched product of M x K and K x N matrices."""

import torch
from torch import nn

BATCH_SIZE = 128
M = 512
K = 1024
N = 2048

SMOKE = {"BATCH_SIZE": 5, "M": 37, "K": 65, "N": 83}
SHAPES = [
    {"BATCH_SIZE": 16, "M": 128, "K": 256, "N": 192},
    {"BATCH_SIZE": 7, "M": 257, "K": 509, "N": 331},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """C[b] = A[b] B[b]."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.bmm(A, B)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, M, K), torch.randn(BATCH_SIZE, K, N) * K**-0.5]


def get_init_inputs() -> list:
    return []
