"""Max pooling of images, padded."""

import torch
from torch import nn

BATCH_SIZE = 32
CHANNELS = 64
HEIGHT = 512
WIDTH = 512
KERNEL_SIZE = 4
STRIDE = 1
PADDING = 1
DILATION = 1

SMOKE = {"BATCH_SIZE": 2, "CHANNELS": 3, "HEIGHT": 37, "WIDTH": 41}
SHAPES = [
    {"BATCH_SIZE": 4, "CHANNELS": 16, "HEIGHT": 64, "WIDTH": 128},
    {"BATCH_SIZE": 3, "CHANNELS": 31, "HEIGHT": 201, "WIDTH": 163},
    {"BATCH_SIZE": 8},
]


class Model(nn.Module):
    """MaxPool2d."""

    def __init__(self, kernel_size: int, stride: int, padding: int, dilation: int) -> None:
        super().__init__()
        self.maxpool = nn.MaxPool2d(kernel_size, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def get_inputs() -> list:
    # Mostly negative, so that a border padded with zeros instead of minus infinity shows.
    return [torch.randn(BATCH_SIZE, CHANNELS, HEIGHT, WIDTH).sub_(2)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE, STRIDE, PADDING, DILATION]
