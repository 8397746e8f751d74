"""Conv3d, minimum over depth, softmax over channels."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 24
DEPTH = 24
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
DIM = 2

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 11,
    "DEPTH": 9,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 18, "DEPTH": 9, "HEIGHT": 17, "WIDTH": 21},
    {"BATCH_SIZE": 16, "DEPTH": 12, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """softmax(min(conv(x), over dim), over channels)."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, dim: int) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv(x), dim=self.dim).values
        return torch.softmax(x, dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 3]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, DIM]
