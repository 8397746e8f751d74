"""Depthwise 2D convolution of wide images with a square kernel."""

import torch
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 128
OUT_CHANNELS = 128
HEIGHT = 256
WIDTH = 512
KERNEL_SIZE = 3
STRIDE = 1
PADDING = 0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 7, "OUT_CHANNELS": 7, "HEIGHT": 19, "WIDTH": 29}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 20, "HEIGHT": 101, "WIDTH": 133},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 256},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """A Conv2d, one group a channel."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            groups=in_channels,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING]
