"""Matrix times a Python number."""

import torch
from torch import nn

M = 65536
N = 16384
S = 3.14

SMOKE = {"M": 131, "N": 517}
SHAPES = [
    {"M": 1024, "N": 2048},
    {"M": 4099, "N": 1021},
    {"M": 16384, "N": 16384},
]


class Model(nn.Module):
    """C = s A."""

    def forward(self, A: torch.Tensor, s: float) -> torch.Tensor:
        return A * s


def get_inputs() -> list:
    return [torch.randn(M, N), S]


def get_init_inputs() -> list:
    return []
