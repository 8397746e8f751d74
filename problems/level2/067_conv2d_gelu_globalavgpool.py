"""Conv2d, GELU, global average.

Changed: each channel of each sample has its own level; the mean over independent noise is the same
for every input.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 31, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 13, "WIDTH": 11}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 7, "OUT_CHANNELS": 44, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """One number a sample and channel: mean(gelu(conv(x)))."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.gelu(self.conv(x))
        return F.adaptive_avg_pool2d(x, 1).squeeze(-1).squeeze(-1)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1)
    return [noise + 2 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
