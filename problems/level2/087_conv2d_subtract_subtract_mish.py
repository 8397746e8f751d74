"""Conv2d, two subtractions, Mish."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3
SUBTRACT_VALUE_1 = 0.5
SUBTRACT_VALUE_2 = 0.2

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 7, "OUT_CHANNELS": 44, "HEIGHT": 85, "WIDTH": 115},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """mish(conv(x) - subtract_value_1 - subtract_value_2)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        subtract_value_1: float,
        subtract_value_2: float,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract_value_1 = subtract_value_1
        self.subtract_value_2 = subtract_value_2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.mish(self.conv(x) - self.subtract_value_1 - self.subtract_value_2)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 3]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, SUBTRACT_VALUE_1, SUBTRACT_VALUE_2]
