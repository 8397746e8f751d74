"""Conv3d, scale of each channel, tanh, factor of each channel, sigmoid."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3
SCALING_FACTOR = 2

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 11, "DEPTH": 9, "HEIGHT": 31, "WIDTH": 39},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """sigmoid(tanh(conv(x) * scaling_factor) * bias).

    Both are learnable, the constructor's number is not used.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        scaling_factor: float,
        bias_shape: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.scaling_factor = nn.Parameter(torch.randn(bias_shape))
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.conv(x) * self.scaling_factor)
        return torch.sigmoid(x * self.bias)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 3]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, SCALING_FACTOR, (OUT_CHANNELS, 1, 1, 1)]
