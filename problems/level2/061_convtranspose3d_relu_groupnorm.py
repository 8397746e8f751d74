"""ConvTranspose3d without bias, ReLU, GroupNorm.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
DEPTH = 32
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
GROUPS = 8
BIAS = False

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 24, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 9}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 49, "DEPTH": 13, "HEIGHT": 19, "WIDTH": 17},
    {"BATCH_SIZE": 2, "DEPTH": 16, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """group_norm(relu(conv_transpose(x)))."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, groups: int, bias: bool = False
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=bias)
        self.relu = nn.ReLU()
        self.group_norm = nn.GroupNorm(num_groups=groups, num_channels=out_channels)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.group_norm(self.relu(self.conv_transpose(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, GROUPS, BIAS]
