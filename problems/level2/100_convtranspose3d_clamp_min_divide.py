"""ConvTranspose3d, clamp from below, division.

Changed: inputs of standard deviation 8, so that the clamp binds; it never did.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
DEPTH = 24
HEIGHT = 48
WIDTH = 48
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
MIN_VALUE = -1.0
DIVISOR = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 9}
SHAPES = [
    {
        "BATCH_SIZE": 3,
        "IN_CHANNELS": 49,
        "OUT_CHANNELS": 80,
        "DEPTH": 11,
        "HEIGHT": 25,
        "WIDTH": 27,
    },
    {"BATCH_SIZE": 2, "DEPTH": 12, "HEIGHT": 24, "WIDTH": 24},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """max(conv_transpose(x), min_value) / divisor."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        min_value: float,
        divisor: float,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.min_value = min_value
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.clamp(self.conv_transpose(x), min=self.min_value)
        return x / self.divisor


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 8]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, MIN_VALUE, DIVISOR]
