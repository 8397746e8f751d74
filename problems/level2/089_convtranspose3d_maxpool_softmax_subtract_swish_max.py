"""ConvTranspose3d, MaxPool3d, softmax over channels, subtraction, swish, maximum over channels.

Changed: inputs of standard deviation 32 and a subtracted vector of standard deviation 0.25 instead
of 1, so that the softmax and not the vector's smallest entry decides the maximum.
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
OUTPUT_PADDING = 1
POOL_KERNEL_SIZE = 2
POOL_STRIDE = 2
POOL_PADDING = 0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 3, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 9, "WIDTH": 7}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 5, "OUT_CHANNELS": 13, "DEPTH": 13, "HEIGHT": 15, "WIDTH": 19},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """max(swish(softmax(max_pool(conv_transpose(x)), over channels) - subtract), over channels)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        pool_kernel_size: int,
        pool_stride: int,
        pool_padding: int,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
        )
        self.max_pool = nn.MaxPool3d(
            kernel_size=pool_kernel_size, stride=pool_stride, padding=pool_padding
        )
        self.subtract = nn.Parameter(0.25 * torch.randn(out_channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.max_pool(self.conv_transpose(x))
        x = torch.softmax(x, dim=1) - self.subtract.view(1, -1, 1, 1, 1)
        return torch.max(torch.sigmoid(x) * x, dim=1).values


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 32]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        POOL_KERNEL_SIZE,
        POOL_STRIDE,
        POOL_PADDING,
    ]
