"""Conv3d, ReLU, LeakyReLU, GELU, sigmoid, then a learnable bias."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 8
OUT_CHANNELS = 32
DEPTH = 32
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 7,
    "DEPTH": 9,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 7, "OUT_CHANNELS": 24, "DEPTH": 13, "HEIGHT": 33, "WIDTH": 35},
    {"BATCH_SIZE": 8, "DEPTH": 16, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """sigmoid(gelu(leaky_relu(relu(conv(x))))) + bias.

    The LeakyReLU after the ReLU changes nothing.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv(x))
        x = F.leaky_relu(x, negative_slope=0.01)
        x = torch.sigmoid(F.gelu(x))
        return x + self.bias


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 3]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1, 1)]
