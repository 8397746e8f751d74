"""Conv3d, GroupNorm, mean over everything but the batch.

Changed: the GroupNorm's weight and bias are drawn at random and each channel of each sample has its
own level; the mean of a normalised tensor under ones and zeros is 0 for every input.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 24
DEPTH = 24
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
NUM_GROUPS = 8

SMOKE = {
    "BATCH_SIZE": 257,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 24,
    "DEPTH": 7,
    "HEIGHT": 11,
    "WIDTH": 9,
}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 5, "DEPTH": 13, "HEIGHT": 15, "WIDTH": 19},
    {"BATCH_SIZE": 16, "DEPTH": 12, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """One number a sample: mean(group_norm(conv(x)))."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, num_groups: int
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        nn.init.normal_(self.group_norm.weight)
        nn.init.normal_(self.group_norm.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.group_norm(self.conv(x)).mean(dim=[1, 2, 3, 4])


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [noise + level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, NUM_GROUPS]
