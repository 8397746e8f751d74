"""Transposed 3D convolution of oblong volumes with an oblong kernel: strided, padded, grouped."""

import torch
from torch import nn

BATCH_SIZE = 8
IN_CHANNELS = 32
OUT_CHANNELS = 32
DEPTH = 12
HEIGHT = 24
WIDTH = 48
KERNEL_SIZE = (3, 5, 7)
STRIDE = (2, 2, 2)
PADDING = (1, 2, 3)
OUTPUT_PADDING = (1, 1, 1)
GROUPS = 4

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 12,
    "OUT_CHANNELS": 20,
    "DEPTH": 5,
    "HEIGHT": 7,
    "WIDTH": 9,
}
SHAPES = [
    {
        "BATCH_SIZE": 3,
        "IN_CHANNELS": 20,
        "OUT_CHANNELS": 36,
        "DEPTH": 12,
        "HEIGHT": 24,
        "WIDTH": 37,
    },
    {"BATCH_SIZE": 2, "DEPTH": 12, "HEIGHT": 12, "WIDTH": 24},
    {"BATCH_SIZE": 2},
]


class Model(nn.Module):
    """A ConvTranspose3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, int, int],
        stride: tuple[int, int, int] = (1, 1, 1),
        padding: tuple[int, int, int] = (0, 0, 0),
        output_padding: tuple[int, int, int] = (0, 0, 0),
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
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, OUTPUT_PADDING, GROUPS]
