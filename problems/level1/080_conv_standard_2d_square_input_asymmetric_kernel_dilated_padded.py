"""2D convolution of square images with an oblong kernel, dilated and padded."""

import torch
from torch import nn

BATCH_SIZE = 8
IN_CHANNELS = 32
OUT_CHANNELS = 64
HEIGHT = 512
WIDTH = 512
KERNEL_SIZE = (5, 9)
STRIDE = 1
PADDING = (2, 4)
DILATION = (2, 3)

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 41, "WIDTH": 41}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "HEIGHT": 101, "WIDTH": 101},
    {"BATCH_SIZE": 2, "HEIGHT": 256, "WIDTH": 256},
    {"BATCH_SIZE": 2},
]


class Model(nn.Module):
    """A Conv2d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, int],
        stride: int = 1,
        padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1),
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, DILATION]
