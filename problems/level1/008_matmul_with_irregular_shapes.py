"""Product of two matrices whose sizes are no multiples of anything."""

import torch
from torch import nn

M = 8205
K = 2949
N = 5921

SMOKE = {"M": 205, "K": 149, "N": 121}
SHAPES = [
    {"M": 515, "K": 259, "N": 371},
    {"M": 1029, "K": 1475, "N": 741},
    {"M": 4103, "K": 2949, "N": 2961},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(M, K), torch.randn(K, N) * K**-0.5]


def get_init_inputs() -> list:
    return []
