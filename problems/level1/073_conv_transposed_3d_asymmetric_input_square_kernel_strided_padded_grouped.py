"""Transposed 3D convolution of oblong volumes with a cubic kernel: strided, padded.

Changed: output_padding 0 and groups 1 are given by name and used. The original gives 4 where
output_padding stands, meant for groups, and uses neither; its sizes and weights are those of an
ungrouped convolution, and so are these.
"""

import torch
from torch import nn

BATCH_SIZE = 4
IN_CHANNELS = 32
OUT_CHANNELS = 32
DEPTH = 32
HEIGHT = 64
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 0
GROUPS = 1

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
        "DEPTH": 27,
        "HEIGHT": 27,
        "WIDTH": 37,
    },
    {"BATCH_SIZE": 1, "DEPTH": 16, "HEIGHT": 32, "WIDTH": 64},
    {"BATCH_SIZE": 1},
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
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, OUTPUT_PADDING, GROUPS]
