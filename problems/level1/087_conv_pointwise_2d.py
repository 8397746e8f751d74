"""Pointwise (1 x 1) 2D convolution."""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 1024
WIDTH = 1024

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 7, "OUT_CHANNELS": 11, "HEIGHT": 31, "WIDTH": 29}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "HEIGHT": 101, "WIDTH": 133},
    {"BATCH_SIZE": 4, "HEIGHT": 512, "WIDTH": 512},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """A Conv2d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv1d = nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS]
