"""ConvTranspose3d, scaling, BatchNorm3d in training mode, global average.

Changed: each channel of each sample has its own level, and the BatchNorm's weight and bias are
drawn at random; the mean over independent noise was nearly 0 for every input.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 5
SCALE_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 31, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 9}
SHAPES = [
    {
        "BATCH_SIZE": 6,
        "IN_CHANNELS": 49,
        "OUT_CHANNELS": 84,
        "DEPTH": 13,
        "HEIGHT": 15,
        "WIDTH": 19,
    },
    {"BATCH_SIZE": 2, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """One number a sample and channel: mean(batch_norm(conv_transpose(x) * scale_factor))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        scale_factor: float,
        eps: float = 1e-5,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size)
        self.scale_factor = scale_factor
        self.batch_norm = nn.BatchNorm3d(out_channels, eps=eps, momentum=momentum)
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.5)
        self.global_avg_pool = nn.AdaptiveAvgPool3d((1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.batch_norm(self.conv_transpose(x) * self.scale_factor)
        return self.global_avg_pool(x)


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [noise + 2 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, SCALE_FACTOR]
