"""Transposed 3D convolution of cubes with a cubic kernel."""

import torch
from torch import nn

BATCH_SIZE = 8
IN_CHANNELS = 48
OUT_CHANNELS = 48
DEPTH = 64
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 7, "DEPTH": 9, "HEIGHT": 9, "WIDTH": 9}
SHAPES = [
    {
        "BATCH_SIZE": 3,
        "IN_CHANNELS": 20,
        "OUT_CHANNELS": 36,
        "DEPTH": 27,
        "HEIGHT": 27,
        "WIDTH": 27,
    },
    {"BATCH_SIZE": 2, "DEPTH": 32, "HEIGHT": 32, "WIDTH": 32},
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
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose3d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
