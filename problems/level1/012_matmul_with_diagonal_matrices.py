"""Product of a diagonal N x N matrix, given as its diagonal, with an N x M matrix."""

import torch
from torch import nn

M = 4096
N = 4096

SMOKE = {"M": 127, "N": 203}
SHAPES = [
    {"M": 512, "N": 1024},
    {"M": 1023, "N": 777},
    {"M": 2048, "N": 2048},
]


class Model(nn.Module):
    """C = diag(A) B, without forming the diagonal matrix."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return A.unsqueeze(1) * B


def get_inputs() -> list:
    return [torch.randn(N), torch.randn(N, M)]


def get_init_inputs() -> list:
    return []
