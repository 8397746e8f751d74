"""ConvTranspose3d, scaling, MaxPool3d, global average, clamp.

Changed: each channel of each sample has its own level, up to tens, so that the global mean depends
on the input and the clamp binds on both sides.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
SCALE = 0.5
MAXPOOL_KERNEL_SIZE = 2

SMOKE = {"BATCH_SIZE": 31, "IN_CHANNELS": 3, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 9, "WIDTH": 7}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 12, "DEPTH": 9, "HEIGHT": 17, "WIDTH": 21},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """One number a sample and channel: clamp(mean(max_pool(conv_transpose(x) * scale)), 0, 1)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        scale: float,
        maxpool_kernel_size: int,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.scale = scale
        self.maxpool = nn.MaxPool3d(kernel_size=maxpool_kernel_size)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.conv_transpose(x) * self.scale)
        return torch.clamp(self.global_avg_pool(x), min=0, max=1)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [4 * noise + 12 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, SCALE, MAXPOOL_KERNEL_SIZE]
