"""Conv3d, softmax over channels, two max pools."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
POOL_KERNEL_SIZE = 2

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 7,
    "DEPTH": 15,
    "HEIGHT": 19,
    "WIDTH": 17,
}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 6, "OUT_CHANNELS": 13, "DEPTH": 11, "HEIGHT": 23, "WIDTH": 19},
    {"BATCH_SIZE": 16, "OUT_CHANNELS": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """max_pool(max_pool(softmax(conv(x), over channels)))."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, pool_kernel_size: int
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.pool1 = nn.MaxPool3d(pool_kernel_size)
        self.pool2 = nn.MaxPool3d(pool_kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.softmax(self.conv(x), dim=1)
        return self.pool2(self.pool1(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, POOL_KERNEL_SIZE]
