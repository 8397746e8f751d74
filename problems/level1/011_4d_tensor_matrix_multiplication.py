"""Contraction of the last axis of a 4D tensor with a matrix."""

import torch
from torch import nn

BATCH_SIZE = 8
I_SIZE = 256
J_SIZE = 512
L_SIZE = 256
K_SIZE = 768

SMOKE = {"BATCH_SIZE": 2, "I_SIZE": 5, "J_SIZE": 13, "L_SIZE": 29, "K_SIZE": 47}
SHAPES = [
    {"BATCH_SIZE": 2, "I_SIZE": 16, "J_SIZE": 64, "L_SIZE": 128, "K_SIZE": 96},
    {"BATCH_SIZE": 3, "I_SIZE": 31, "J_SIZE": 67, "L_SIZE": 129, "K_SIZE": 191},
    {"BATCH_SIZE": 2},
]


class Model(nn.Module):
    """C[b, i, j, k] = sum over l of A[b, i, j, l] B[l, k]."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bijl,lk->bijk", A, B)


def get_inputs() -> list:
    left = torch.randn(BATCH_SIZE, I_SIZE, J_SIZE, L_SIZE)
    return [left, torch.randn(L_SIZE, K_SIZE) * L_SIZE**-0.5]


def get_init_inputs() -> list:
    return []
