"""Root-mean-square normalisation over the channels of images.

Changed: each pixel has a size of its own between 0.003 and 3: eps = 1e-5, which had no effect on
inputs from [0, 1), matters for the smallest.
"""

import torch
from torch import nn

BATCH_SIZE = 112
NUM_FEATURES = 64
HEIGHT = 512
WIDTH = 512

SMOKE = {"BATCH_SIZE": 5, "NUM_FEATURES": 13, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 8, "NUM_FEATURES": 32, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 5, "NUM_FEATURES": 48, "HEIGHT": 131, "WIDTH": 197},
    {"BATCH_SIZE": 28},
]


class Model(nn.Module):
    """x divided by the root of its mean square over dim 1; no weight."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rms = torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        return x / rms


def get_inputs() -> list:
    x = torch.randn(BATCH_SIZE, NUM_FEATURES, HEIGHT, WIDTH)
    return [x.mul_(10 ** (3 * torch.rand(BATCH_SIZE, 1, HEIGHT, WIDTH) - 2.5))]


def get_init_inputs() -> list:
    return [NUM_FEATURES]
