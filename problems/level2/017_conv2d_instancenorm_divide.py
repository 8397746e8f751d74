"""Conv2d, InstanceNorm2d, division."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
DIVIDE_BY = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 49, "OUT_CHANNELS": 84, "HEIGHT": 47, "WIDTH": 57},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """instance_norm(conv(x)) / divide_by; the norm has no parameters and cancels the bias."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, divide_by: float
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.instance_norm = nn.InstanceNorm2d(out_channels)
        self.divide_by = divide_by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.instance_norm(self.conv(x)) / self.divide_by


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, DIVIDE_BY]
