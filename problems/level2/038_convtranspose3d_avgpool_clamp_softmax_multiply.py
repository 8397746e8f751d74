"""AvgPool3d, ConvTranspose3d, clamp, softmax over space, scale of each channel.

Changed: inputs of standard deviation 80 clamped to [0, 16] instead of [0, 1], so that the softmax
over 131072 voxels has peaks (all values were within 1e-5, where zeros pass); the scale is drawn at
random, of standard deviation 8, instead of ones.
"""

import torch
from torch import nn

BATCH_SIZE = 32
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1
POOL_KERNEL_SIZE = 2
CLAMP_MIN = 0.0
CLAMP_MAX = 16.0

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 5,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 11,
    "WIDTH": 13,
}
SHAPES = [
    {
        "BATCH_SIZE": 5,
        "IN_CHANNELS": 25,
        "OUT_CHANNELS": 41,
        "DEPTH": 15,
        "HEIGHT": 29,
        "WIDTH": 37,
    },
    {"BATCH_SIZE": 4, "DEPTH": 16, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 8},
]


class Model(nn.Module):
    """softmax(clamp(conv_transpose(avg_pool(x))), over all voxels of a channel) * scale."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        pool_kernel_size: int,
        clamp_min: float,
        clamp_max: float,
    ) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool3d(pool_kernel_size)
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
        )
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max
        self.scale = nn.Parameter(8 * torch.randn(1, out_channels, 1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(self.avg_pool(x))
        x = torch.clamp(x, self.clamp_min, self.clamp_max)
        batch, channels, depth, height, width = x.shape
        x = torch.softmax(x.view(batch, channels, -1), dim=2)
        return x.view(batch, channels, depth, height, width) * self.scale


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 80]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        POOL_KERNEL_SIZE,
        CLAMP_MIN,
        CLAMP_MAX,
    ]
