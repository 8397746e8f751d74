"""ConvTranspose2d, GELU, GroupNorm.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3
STRIDE = 1
GROUPS = 8
NUM_GROUPS = 8

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 24, "HEIGHT": 19, "WIDTH": 17}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 49, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """group_norm(gelu(conv_transpose(x))); `groups` is accepted and not used."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        groups: int,
        num_groups: int,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride
        )
        self.group_norm = nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.group_norm(F.gelu(self.conv_transpose(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, GROUPS, NUM_GROUPS]
