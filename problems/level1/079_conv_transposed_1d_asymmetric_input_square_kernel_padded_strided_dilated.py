"""Transposed 1D convolution: padded, strided, dilated."""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 32
OUT_CHANNELS = 64
LENGTH = 131072
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
DILATION = 2

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 10, "OUT_CHANNELS": 14, "LENGTH": 203}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "LENGTH": 4099},
    {"BATCH_SIZE": 4, "LENGTH": 65536},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """A ConvTranspose1d."""

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
        self.conv1d_transpose = nn.ConvTranspose1d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d_transpose(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, LENGTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, DILATION]
