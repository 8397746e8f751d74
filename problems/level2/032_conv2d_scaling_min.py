"""Conv2d, scaling, minimum over channels."""

import torch
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3
SCALE_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 84, "HEIGHT": 89, "WIDTH": 113},
    {"BATCH_SIZE": 8, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """min(conv(x) * scale_factor, over channels)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, scale_factor: float
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.min(self.conv(x) * self.scale_factor, dim=1, keepdim=True).values


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, SCALE_FACTOR]
