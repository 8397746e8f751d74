"""ConvTranspose2d, subtraction of a learnable bias, tanh."""

import torch
from torch import nn

BATCH_SIZE = 32
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 4

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 11, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 49, "OUT_CHANNELS": 40, "HEIGHT": 89, "WIDTH": 113},
    {"BATCH_SIZE": 4, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 8},
]


class Model(nn.Module):
    """tanh(conv_transpose(x) - bias)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        bias_shape: tuple[int, ...],
        stride: int = 2,
        padding: int = 1,
        output_padding: int = 1,
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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.conv_transpose(x) - self.bias)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 3]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1)]
