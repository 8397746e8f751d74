"""Conv3d, LeakyReLU, addition of a tensor, clamp, GELU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 7, "OUT_CHANNELS": 40, "DEPTH": 9, "HEIGHT": 31, "WIDTH": 39},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """gelu(clamp(leaky_relu(conv(x)) + sum_tensor, -1, 1))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        sum_tensor_shape: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.sum_tensor = nn.Parameter(torch.randn(sum_tensor_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.leaky_relu(self.conv(x), negative_slope=0.2) + self.sum_tensor
        return F.gelu(torch.clamp(x, min=-1.0, max=1.0))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1, 1)]
