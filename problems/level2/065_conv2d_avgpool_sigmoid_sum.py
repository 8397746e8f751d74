"""Conv2d, AvgPool2d, sigmoid, sum over channels and space.

Changed: each channel of each sample has its own level; the sum over independent noise is the same
for every input.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 384
WIDTH = 384
KERNEL_SIZE = 3
POOL_KERNEL_SIZE = 4

SMOKE = {"BATCH_SIZE": 257, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 13, "WIDTH": 11}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 7, "OUT_CHANNELS": 40, "HEIGHT": 133, "WIDTH": 171},
    {"BATCH_SIZE": 16, "HEIGHT": 192, "WIDTH": 192},
    {"BATCH_SIZE": 32},
]
DTYPES = ("fp32", "bf16")  # at full size the sum is near 289000, beyond fp16


class Model(nn.Module):
    """One number a sample: sum(sigmoid(avg_pool(conv(x))))."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, pool_kernel_size: int
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.avg_pool = nn.AvgPool2d(pool_kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(self.avg_pool(self.conv(x)))
        return torch.sum(x, dim=[1, 2, 3])


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1)
    return [noise + 4 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, POOL_KERNEL_SIZE]
