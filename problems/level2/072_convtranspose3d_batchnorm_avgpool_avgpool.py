"""ConvTranspose3d, BatchNorm3d in training mode, AvgPool3d twice.

Changed: each channel of each sample has its own level, which survives averaging over 64 voxels
(noise does not), and the BatchNorm's weight and bias are drawn at random.
"""

import torch
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 32
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 3, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 9, "WIDTH": 7}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 14, "DEPTH": 11, "HEIGHT": 17, "WIDTH": 21},
    {"BATCH_SIZE": 8, "DEPTH": 16, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """avg_pool(avg_pool(batch_norm(conv_transpose(x)))); `bias_shape` is accepted and not used."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        bias_shape: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.batch_norm = nn.BatchNorm3d(out_channels)
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.5)
        self.avg_pool1 = nn.AvgPool3d(kernel_size=2)
        self.avg_pool2 = nn.AvgPool3d(kernel_size=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.batch_norm(self.conv_transpose(x))
        return self.avg_pool2(self.avg_pool1(x))


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1, 1)
    return [8 * (noise + level)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, (OUT_CHANNELS, 1, 1, 1)]
