"""Conv3d, Mish, tanh."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 5,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {
        "BATCH_SIZE": 4,
        "IN_CHANNELS": 25,
        "OUT_CHANNELS": 44,
        "DEPTH": 15,
        "HEIGHT": 29,
        "WIDTH": 37,
    },
    {"BATCH_SIZE": 2, "DEPTH": 16, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """tanh(mish(conv(x)))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(F.mish(self.conv(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
