"""ConvTranspose2d, Mish, addition, Hardtanh, scaling.

Changed: inputs of standard deviation 4, so that the Hardtanh binds above; below it cannot, since
mish(x) + 0.5 > 0.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1
ADD_VALUE = 0.5
SCALE = 2

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 11, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 42, "HEIGHT": 45, "WIDTH": 61},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """hardtanh(mish(conv_transpose(x)) + add_value, -1, 1) * scale."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        add_value: float,
        scale: float,
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
        self.add_value = add_value
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.mish(self.conv_transpose(x)) + self.add_value
        return F.hardtanh(x, min_val=-1, max_val=1) * self.scale


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 4]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        ADD_VALUE,
        SCALE,
    ]
