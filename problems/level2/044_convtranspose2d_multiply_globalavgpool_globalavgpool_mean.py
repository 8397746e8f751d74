"""ConvTranspose2d, multiplication, global average, twice.

Changed: each channel of each sample has its own level; the mean over independent noise is the same
for every input.
"""

import torch
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
MULTIPLIER = 0.5

SMOKE = {"BATCH_SIZE": 31, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 11, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 83, "HEIGHT": 47, "WIDTH": 57},
    {"BATCH_SIZE": 2, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """One number a sample and channel: mean(mean(conv_transpose(x) * multiplier))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        multiplier: float,
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
        self.multiplier = multiplier

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x) * self.multiplier
        x = torch.mean(x, dim=(2, 3), keepdim=True)
        return torch.mean(x, dim=(2, 3), keepdim=True)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1)
    return [noise + 8 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, OUTPUT_PADDING, MULTIPLIER]
