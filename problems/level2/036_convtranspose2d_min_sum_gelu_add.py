"""ConvTranspose2d, minimum over channels, sum over the height, GELU, bias.

Changed: the layer's bias is positive and each column of the inputs has its own small scale, so that
the sum falls on both sides of 0; it was always far below, where the GELU is 0.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1
BIAS_SHAPE = (1, 1, 1)

SMOKE = {"BATCH_SIZE": 12, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 19, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 82, "HEIGHT": 43, "WIDTH": 59},
    {"BATCH_SIZE": 2, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """gelu(sum(min(conv_transpose(x), over channels), over height)) + bias."""

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
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
        )
        nn.init.uniform_(self.conv_transpose.bias, 0.03, 0.07)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv_transpose(x), dim=1, keepdim=True).values
        x = torch.sum(x, dim=2, keepdim=True)
        return F.gelu(x) + self.bias


def get_inputs() -> list:
    column_scale = 0.2 * torch.rand(BATCH_SIZE, 1, 1, WIDTH)
    return [column_scale * torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, OUTPUT_PADDING, BIAS_SHAPE]
