"""Product of an M x K and a K x N matrix with K far larger than M and N.

Changed: entries are normal instead of uniform on [0, 1), which put every sum near K / 4 so that one
constant passed at 1e-2; B is scaled by K**-0.5, which keeps the products near 1.
"""

import torch
from torch import nn

M = 256
N = 256
K = 524288

SMOKE = {"M": 37, "N": 53, "K": 8191}
SHAPES = [
    {"M": 128, "N": 64, "K": 32768},
    {"M": 101, "N": 203, "K": 65537},
    {"K": 131072},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    return [torch.randn(M, K), torch.randn(K, N) * K**-0.5]


def get_init_inputs() -> list:
    return []
