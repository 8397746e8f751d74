"""Conv2d, x * tanh(softplus(x)), BatchNorm2d in training mode.

Changed: weight and bias of the BatchNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 49, "OUT_CHANNELS": 84, "HEIGHT": 45, "WIDTH": 61},
    {"BATCH_SIZE": 8, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """batch_norm(tanh(softplus(y)) * y) with y = conv(x)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bn = nn.BatchNorm2d(out_channels, eps=eps, momentum=momentum)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        x = torch.tanh(F.softplus(x)) * x
        return self.bn(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
