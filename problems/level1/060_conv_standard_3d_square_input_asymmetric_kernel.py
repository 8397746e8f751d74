"""3D convolution of cubes with an oblong kernel."""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 3
OUT_CHANNELS = 64
DEPTH = 64
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = (3, 5, 7)

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 7,
    "DEPTH": 13,
    "HEIGHT": 13,
    "WIDTH": 13,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 36, "DEPTH": 27, "HEIGHT": 27, "WIDTH": 27},
    {"BATCH_SIZE": 4, "DEPTH": 32, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """A Conv3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, int, int],
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv3d = nn.Conv3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
