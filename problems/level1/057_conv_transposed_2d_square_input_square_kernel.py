"""Transposed 2D convolution of square images with a square kernel."""

import torch
from torch import nn

BATCH_SIZE = 8
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 1024
WIDTH = 1024
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 7, "HEIGHT": 23, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "HEIGHT": 101, "WIDTH": 101},
    {"BATCH_SIZE": 2, "HEIGHT": 512, "WIDTH": 512},
    {"BATCH_SIZE": 2},
]


class Model(nn.Module):
    """A ConvTranspose2d."""

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
        self.conv_transpose2d = nn.ConvTranspose2d(
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
        return self.conv_transpose2d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
