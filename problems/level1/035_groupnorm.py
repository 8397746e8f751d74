"""Group normalisation of images.

Changed: weight and bias are drawn at random instead of being ones and zeros, so that leaving them
out shows; each channel of each image has a mean and a deviation of its own.
"""

import torch
from torch import nn

BATCH_SIZE = 112
NUM_FEATURES = 64
NUM_GROUPS = 8
HEIGHT = 512
WIDTH = 512

SMOKE = {"BATCH_SIZE": 5, "NUM_FEATURES": 24, "NUM_GROUPS": 8, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 8, "NUM_FEATURES": 32, "NUM_GROUPS": 4, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 5, "NUM_FEATURES": 48, "NUM_GROUPS": 16, "HEIGHT": 131, "WIDTH": 197},
    {"BATCH_SIZE": 28},
]


class Model(nn.Module):
    """GroupNorm: groups of channels of an image are normalised together."""

    def __init__(self, num_features: int, num_groups: int) -> None:
        super().__init__()
        self.gn = nn.GroupNorm(num_groups, num_features)
        nn.init.uniform_(self.gn.weight, 0.5, 1.5)
        nn.init.normal_(self.gn.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gn(x)


def get_inputs() -> list:
    x = torch.randn(BATCH_SIZE, NUM_FEATURES, HEIGHT, WIDTH)
    x.mul_(0.5 + 1.5 * torch.rand(BATCH_SIZE, NUM_FEATURES, 1, 1))
    return [x.add_(torch.randn(BATCH_SIZE, NUM_FEATURES, 1, 1))]


def get_init_inputs() -> list:
    return [NUM_FEATURES, NUM_GROUPS]
