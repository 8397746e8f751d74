"""ConvTranspose2d, softmax over channels, bias, scaling, sigmoid.

Changed: inputs of standard deviation 20, so that the softmax has peaks; it was 1/128 everywhere and
the bias decided the output.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 4
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1
SCALING_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 11, "HEIGHT": 11, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 49, "OUT_CHANNELS": 82, "HEIGHT": 23, "WIDTH": 33},
    {"BATCH_SIZE": 16, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """sigmoid((softmax(conv_transpose(x), over channels) + bias) * scaling_factor)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        bias_shape: tuple[int, ...],
        scaling_factor: float,
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
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.softmax(self.conv_transpose(x), dim=1)
        return torch.sigmoid((x + self.bias) * self.scaling_factor)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 20]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        (OUT_CHANNELS, 1, 1),
        SCALING_FACTOR,
    ]
