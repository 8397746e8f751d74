"""Transposed 3D convolution with a cubic kernel."""

import torch
from torch import nn

BATCH_SIZE = 8
IN_CHANNELS = 48
OUT_CHANNELS = 24
DEPTH = 96
HEIGHT = 96
WIDTH = 96
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 6, "OUT_CHANNELS": 5, "DEPTH": 7, "HEIGHT": 9, "WIDTH": 11}
SHAPES = [
    {
        "BATCH_SIZE": 3,
        "IN_CHANNELS": 20,
        "OUT_CHANNELS": 36,
        "DEPTH": 27,
        "HEIGHT": 27,
        "WIDTH": 37,
    },
    {"BATCH_SIZE": 2, "DEPTH": 48, "HEIGHT": 48, "WIDTH": 48},
    {"BATCH_SIZE": 2},
]


class Model(nn.Module):
    """A ConvTranspose3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv_transpose3d = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose3d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
