"""Depthwise separable 2D convolution: a depthwise one, then a pointwise one."""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 512
WIDTH = 512
KERNEL_SIZE = 3
STRIDE = 1
PADDING = 1
DILATION = 1

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 7, "OUT_CHANNELS": 11, "HEIGHT": 29, "WIDTH": 29}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "HEIGHT": 101, "WIDTH": 101},
    {"BATCH_SIZE": 4, "HEIGHT": 256, "WIDTH": 256},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """A depthwise Conv2d followed by a 1 x 1 Conv2d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(
            in_channels,
            in_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=in_channels,
            bias=bias,
        )
        self.pointwise = nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pointwise(self.depthwise(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, DILATION]
