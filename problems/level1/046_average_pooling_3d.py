"""Average pooling of volumes; the padding counts in the average."""

import torch
from torch import nn

BATCH_SIZE = 16
CHANNELS = 32
DEPTH = 128
HEIGHT = 128
WIDTH = 256
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1

SMOKE = {"BATCH_SIZE": 2, "CHANNELS": 3, "DEPTH": 17, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 4, "CHANNELS": 8, "DEPTH": 32, "HEIGHT": 32, "WIDTH": 48},
    {"BATCH_SIZE": 3, "CHANNELS": 17, "DEPTH": 45, "HEIGHT": 51, "WIDTH": 67},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """AvgPool3d."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool3d(kernel_size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def get_inputs() -> list:
    # Scaled so that the averages have a deviation of 1.
    return [torch.randn(BATCH_SIZE, CHANNELS, DEPTH, HEIGHT, WIDTH).mul_(KERNEL_SIZE**1.5)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE, STRIDE, PADDING]
