"""3D convolution of flat volumes with a kernel that spans one place of the last axis."""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 3
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
DEPTH = 10
KERNEL_SIZE = 3

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 7,
    "HEIGHT": 17,
    "WIDTH": 19,
    "DEPTH": 7,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 36, "HEIGHT": 67, "WIDTH": 75, "DEPTH": 9},
    {"BATCH_SIZE": 4, "HEIGHT": 128, "WIDTH": 128, "DEPTH": 10},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """A Conv3d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
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
            (kernel_size, kernel_size, 1),
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH, DEPTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
