"""Conv2d, minimum with a constant, bias, scaling."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
CONSTANT_VALUE = 0.5
SCALING_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 49, "OUT_CHANNELS": 82, "HEIGHT": 45, "WIDTH": 61},
    {"BATCH_SIZE": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """(min(conv(x), constant_value) + bias) * scaling_factor."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        constant_value: float,
        bias_shape: tuple[int, ...],
        scaling_factor: float,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.constant_value = constant_value
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        x = torch.min(x, x.new_full((), self.constant_value))
        return (x + self.bias) * self.scaling_factor


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        CONSTANT_VALUE,
        (OUT_CHANNELS, 1, 1),
        SCALING_FACTOR,
    ]
