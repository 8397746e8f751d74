"""Conv2d, ReLU, then a learnable bias."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 49, "OUT_CHANNELS": 82, "HEIGHT": 45, "WIDTH": 61},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """relu(conv(x)) + bias: the bias comes after the ReLU."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)) + self.bias


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1)]
