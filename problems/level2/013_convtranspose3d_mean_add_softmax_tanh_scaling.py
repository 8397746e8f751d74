"""ConvTranspose3d, mean over depth, bias, softmax over channels, tanh, scaling.

Changed: each column along the depth has its own level; the mean over 32 independent voxels left the
bias to decide the softmax.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 16
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 1
PADDING = 1
SCALING_FACTOR = 2.0

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 5,
    "OUT_CHANNELS": 13,
    "DEPTH": 5,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {
        "BATCH_SIZE": 6,
        "IN_CHANNELS": 13,
        "OUT_CHANNELS": 41,
        "DEPTH": 13,
        "HEIGHT": 61,
        "WIDTH": 71,
    },
    {"BATCH_SIZE": 2, "DEPTH": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """tanh(softmax(mean(conv_transpose(x), over depth) + bias, over channels)) * scaling_factor."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        scaling_factor: float,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.bias = nn.Parameter(torch.randn(1, out_channels, 1, 1, 1))
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x).mean(dim=2, keepdim=True)
        x = torch.softmax(x + self.bias, dim=1)
        return torch.tanh(x) * self.scaling_factor


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    column = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, HEIGHT, WIDTH)
    return [noise + 8 * column]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, SCALING_FACTOR]
