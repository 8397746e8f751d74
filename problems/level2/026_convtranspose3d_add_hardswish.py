"""ConvTranspose3d, addition of a second input, product with its Hardswish."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 16
WIDTH = 16
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 9}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 25, "OUT_CHANNELS": 42, "DEPTH": 13, "HEIGHT": 9, "WIDTH": 11},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 8, "WIDTH": 8},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """v * hardswish(v) with v = conv_transpose(x) + add_input.

    `bias` is a parameter that forward never reads.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        bias_shape: tuple[int, ...],
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
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor, add_input: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x) + add_input
        return x * F.hardswish(x)


def get_inputs() -> list:
    x = 4 * torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    depth, height, width = (
        (size - 1) * STRIDE - 2 * PADDING + KERNEL_SIZE + OUTPUT_PADDING
        for size in (DEPTH, HEIGHT, WIDTH)
    )
    return [x, 2 * torch.randn(BATCH_SIZE, OUT_CHANNELS, depth, height, width)]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        (OUT_CHANNELS, 1, 1, 1, 1),
    ]
