"""Conv2d, Mish, Mish."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 83, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 8, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """mish(mish(conv(x)))."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mish(F.mish(self.conv(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
