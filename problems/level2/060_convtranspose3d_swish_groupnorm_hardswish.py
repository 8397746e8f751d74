"""ConvTranspose3d, swish, GroupNorm, Hardswish.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
GROUPS = 4
EPS = 1e-5

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 3, "OUT_CHANNELS": 12, "DEPTH": 5, "HEIGHT": 9, "WIDTH": 7}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "DEPTH": 9, "HEIGHT": 17, "WIDTH": 21},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """hardswish(group_norm(swish(conv_transpose(x))))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        groups: int,
        eps: float,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, bias=bias
        )
        self.group_norm = nn.GroupNorm(num_groups=groups, num_channels=out_channels, eps=eps)
        nn.init.uniform_(self.group_norm.weight, 0.5, 2.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x)
        x = torch.sigmoid(x) * x
        return F.hardswish(self.group_norm(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 16]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, GROUPS, EPS]
