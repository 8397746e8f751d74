"""Max pooling of volumes, strided, dilated and padded."""

import torch
from torch import nn

BATCH_SIZE = 16
CHANNELS = 32
DEPTH = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
DILATION = 3

SMOKE = {"BATCH_SIZE": 2, "CHANNELS": 3, "DEPTH": 19, "HEIGHT": 21, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 4, "CHANNELS": 8, "DEPTH": 32, "HEIGHT": 32, "WIDTH": 48},
    {"BATCH_SIZE": 3, "CHANNELS": 17, "DEPTH": 45, "HEIGHT": 51, "WIDTH": 67},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """MaxPool3d."""

    def __init__(
        self,
        kernel_size: int,
        stride: int | None = None,
        padding: int = 0,
        dilation: int = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.maxpool = nn.MaxPool3d(
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def get_inputs() -> list:
    # Mostly negative, so that a border padded with zeros instead of minus infinity shows.
    return [torch.randn(BATCH_SIZE, CHANNELS, DEPTH, HEIGHT, WIDTH).sub_(2)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE, STRIDE, PADDING, DILATION]
