"""ConvTranspose3d, MaxPool3d twice, sum over channels.

Changed: each sample has its own scale; at one common scale the sum of 64 maxima over 216 voxels
varies by 2 %.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 5
STRIDE = 2
PADDING = 2

SMOKE = {
    "BATCH_SIZE": 24,
    "IN_CHANNELS": 5,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 9,
    "WIDTH": 11,
}
SHAPES = [
    {
        "BATCH_SIZE": 5,
        "IN_CHANNELS": 25,
        "OUT_CHANNELS": 41,
        "DEPTH": 11,
        "HEIGHT": 17,
        "WIDTH": 21,
    },
    {"BATCH_SIZE": 2, "DEPTH": 16, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """sum(max_pool3(max_pool2(conv_transpose(x))), over channels)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int, padding: int
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.max_pool1 = nn.MaxPool3d(kernel_size=2)
        self.max_pool2 = nn.MaxPool3d(kernel_size=3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.max_pool2(self.max_pool1(self.conv_transpose(x)))
        return torch.sum(x, dim=1, keepdim=True)


def get_inputs() -> list:
    sample_scale = 4 * torch.rand(BATCH_SIZE, 1, 1, 1, 1)
    return [sample_scale * torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING]
