"""Batch normalisation of images by the statistics of the batch (training mode).

Changed: weight and bias are drawn at random instead of being ones and zeros, so that leaving them
out shows; channels differ in mean and deviation.
"""

import torch
from torch import nn

BATCH_SIZE = 64
NUM_FEATURES = 64
HEIGHT = 512
WIDTH = 512

SMOKE = {"BATCH_SIZE": 6, "NUM_FEATURES": 11, "HEIGHT": 23, "WIDTH": 29}
SHAPES = [
    {"BATCH_SIZE": 8, "NUM_FEATURES": 32, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 5, "NUM_FEATURES": 48, "HEIGHT": 131, "WIDTH": 197},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """BatchNorm2d in training mode; the running statistics are updated in place."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(x)


def get_inputs() -> list:
    # Each channel has a mean and a deviation of its own, which the normalisation must find.
    x = torch.randn(BATCH_SIZE, NUM_FEATURES, HEIGHT, WIDTH)
    x.mul_(0.5 + 1.5 * torch.rand(1, NUM_FEATURES, 1, 1))
    return [x.add_(torch.randn(1, NUM_FEATURES, 1, 1))]


def get_init_inputs() -> list:
    return [NUM_FEATURES]
