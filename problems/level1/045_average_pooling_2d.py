"""Average pooling of images with a stride of the kernel size."""

import torch
from torch import nn

BATCH_SIZE = 16
CHANNELS = 64
HEIGHT = 2048
WIDTH = 2048
KERNEL_SIZE = 11

SMOKE = {"BATCH_SIZE": 2, "CHANNELS": 5, "HEIGHT": 103, "WIDTH": 97}
SHAPES = [
    {"BATCH_SIZE": 4, "CHANNELS": 16, "HEIGHT": 128, "WIDTH": 256},
    {"BATCH_SIZE": 3, "CHANNELS": 31, "HEIGHT": 515, "WIDTH": 401},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """AvgPool2d."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool2d(kernel_size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def get_inputs() -> list:
    # Scaled so that the averages have a deviation of 1.
    return [torch.randn(BATCH_SIZE, CHANNELS, HEIGHT, WIDTH).mul_(KERNEL_SIZE)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE]
