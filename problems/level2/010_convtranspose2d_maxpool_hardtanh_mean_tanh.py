"""ConvTranspose2d, MaxPool2d, Hardtanh, mean over space, tanh.

Changed: each channel of each sample has its own level, so that the spatial mean depends on the
input and the Hardtanh binds.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3
STRIDE = 1
PADDING = 1
MAXPOOL_KERNEL_SIZE = 2
MAXPOOL_STRIDE = 2
HARDTANH_MIN = -1
HARDTANH_MAX = 1

SMOKE = {"BATCH_SIZE": 31, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 13, "WIDTH": 11}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 49, "OUT_CHANNELS": 40, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """One number a sample and channel: tanh(mean(hardtanh(max_pool(conv_transpose(x)))))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        maxpool_kernel_size: int,
        maxpool_stride: int,
        hardtanh_min: float,
        hardtanh_max: float,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.maxpool = nn.MaxPool2d(kernel_size=maxpool_kernel_size, stride=maxpool_stride)
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.hardtanh(self.maxpool(self.conv_transpose(x)))
        return torch.tanh(torch.mean(x, dim=(2, 3), keepdim=True))


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1)
    return [noise + 2 * level]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        MAXPOOL_KERNEL_SIZE,
        MAXPOOL_STRIDE,
        HARDTANH_MIN,
        HARDTANH_MAX,
    ]
