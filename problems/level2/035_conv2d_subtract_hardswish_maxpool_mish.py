"""Conv2d, subtraction, Hardswish, MaxPool2d, Mish."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
SUBTRACT_VALUE = 0.5
POOL_KERNEL_SIZE = 2

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 49, "OUT_CHANNELS": 80, "HEIGHT": 47, "WIDTH": 57},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """mish(max_pool(hardswish(conv(x) - subtract_value)))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        subtract_value: float,
        pool_kernel_size: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract_value = subtract_value
        self.pool = nn.MaxPool2d(pool_kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.hardswish(self.conv(x) - self.subtract_value)
        return F.mish(self.pool(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 4]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, SUBTRACT_VALUE, POOL_KERNEL_SIZE]
