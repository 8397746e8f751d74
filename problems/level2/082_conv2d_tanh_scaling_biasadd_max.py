"""Conv2d, tanh, scaling, bias, MaxPool2d."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 8
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3
SCALING_FACTOR = 2.0
POOL_KERNEL_SIZE = 4

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 21}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 7, "OUT_CHANNELS": 44, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """max_pool(tanh(conv(x)) * scaling_factor + bias)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        scaling_factor: float,
        bias_shape: tuple[int, ...],
        pool_kernel_size: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scaling_factor = scaling_factor
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.max_pool = nn.MaxPool2d(pool_kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.conv(x)) * self.scaling_factor + self.bias
        return self.max_pool(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        SCALING_FACTOR,
        (OUT_CHANNELS, 1, 1),
        POOL_KERNEL_SIZE,
    ]
