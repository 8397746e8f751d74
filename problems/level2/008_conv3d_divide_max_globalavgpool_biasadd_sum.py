"""Conv3d, division, MaxPool3d, global average, bias, sum over channels.

Changed: each channel of each sample has its own level; the mean over independent noise is the same
for every input.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = (3, 3, 3)
DIVISOR = 2.0
POOL_SIZE = (2, 2, 2)
SUM_DIM = 1

SMOKE = {
    "BATCH_SIZE": 257,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 7,
    "DEPTH": 5,
    "HEIGHT": 9,
    "WIDTH": 7,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 7, "OUT_CHANNELS": 11, "DEPTH": 13, "HEIGHT": 29, "WIDTH": 37},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """One number a sample: sum over channels of mean(max_pool(conv(x) / divisor)) + bias."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        divisor: float,
        pool_size: tuple[int, ...],
        bias_shape: tuple[int, ...],
        sum_dim: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.divisor = divisor
        self.max_pool = nn.MaxPool3d(pool_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.sum_dim = sum_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.max_pool(self.conv(x) / self.divisor)
        x = self.global_avg_pool(x) + self.bias
        return torch.sum(x, dim=self.sum_dim)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [noise + 2 * level]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        DIVISOR,
        POOL_SIZE,
        (OUT_CHANNELS, 1, 1, 1),
        SUM_DIM,
    ]
