"""Product of an M x K matrix and a column of K entries.

Changed: entries are normal instead of uniform on [0, 1), which put every sum near K / 4 so that one
constant passed at 1e-2; B is scaled by K**-0.5, which keeps the products near 1.
"""

import torch
from torch import nn

M = 2048
K = 1048576

SMOKE = {"M": 401, "K": 1003}
SHAPES = [
    {"M": 512, "K": 16384},
    {"M": 777, "K": 65537},
    {"M": 512, "K": 1048576},
]


class Model(nn.Module):
    """C = A B."""

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        return torch.matmul(A, B)


def get_inputs() -> list:
    # Unscaled, the sums would be so large that the rounding of float32 alone exceeds an absolute
    # tolerance of 1e-4.
    return [torch.randn(M, K), torch.randn(K, 1) * K**-0.5]


def get_init_inputs() -> list:
    return []
