"""Conv3d, Hardswish, GroupNorm, mean over space.

Changed: each channel of each sample has its own level, and the GroupNorm's weight and bias are
drawn at random; the mean over independent noise is nearly the same for every input.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 4

SMOKE = {
    "BATCH_SIZE": 31,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 12,
    "DEPTH": 7,
    "HEIGHT": 11,
    "WIDTH": 13,
}
SHAPES = [
    {"BATCH_SIZE": 37, "IN_CHANNELS": 5, "OUT_CHANNELS": 20, "DEPTH": 9, "HEIGHT": 19, "WIDTH": 23},
    {"BATCH_SIZE": 128},
    {"BATCH_SIZE": 256},
]


class Model(nn.Module):
    """One number a sample and channel: mean(group_norm(hardswish(conv(x))))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        num_groups: int = 4,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, bias=bias)
        self.group_norm = nn.GroupNorm(num_groups, out_channels)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.group_norm(F.hardswish(self.conv(x)))
        return torch.mean(x, dim=[2, 3, 4])


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [2 * (noise + level)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
