"""Conv2d, subtraction, tanh, subtraction, AvgPool2d."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
SUBTRACT1_VALUE = 0.5
SUBTRACT2_VALUE = 0.2
KERNEL_SIZE_POOL = 2

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 49, "OUT_CHANNELS": 82, "HEIGHT": 45, "WIDTH": 61},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """avg_pool(tanh(conv(x) - subtract1_value) - subtract2_value)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        subtract1_value: float,
        subtract2_value: float,
        kernel_size_pool: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract1_value = subtract1_value
        self.subtract2_value = subtract2_value
        self.avgpool = nn.AvgPool2d(kernel_size_pool)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.conv(x) - self.subtract1_value)
        return self.avgpool(x - self.subtract2_value)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        SUBTRACT1_VALUE,
        SUBTRACT2_VALUE,
        KERNEL_SIZE_POOL,
    ]
