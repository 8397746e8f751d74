"""Product of a tall M x N and a wide N x M matrix."""

import torch
from torch import nn

M = 32768
N = 32

SMOKE = {"M": 519, "N": 13}
SHAPES = [
    {"M": 2048, "N": 16},
    {"M": 4099, "N": 31},
    {"M": 16384, "N": 32},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(M, N), torch.randn(N, M) * N**-0.5]


def get_init_inputs() -> list:
    return []
