"""ConvTranspose3d, BatchNorm3d in training mode, minus the mean over space.

Changed: the BatchNorm's weight and bias are drawn at random, and each channel of each sample has
its own level: on plain noise the mean over space is already 0.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 16
OUT_CHANNELS = 32
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 9}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 13, "OUT_CHANNELS": 20, "DEPTH": 9, "HEIGHT": 17, "WIDTH": 21},
    {"BATCH_SIZE": 2, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """y - mean(y, over space) with y = batch_norm(conv_transpose(x))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, bias=bias
        )
        self.batch_norm = nn.BatchNorm3d(out_channels)
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.batch_norm(self.conv_transpose(x))
        return x - torch.mean(x, dim=(2, 3, 4), keepdim=True)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [4 * (noise + level)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING]
