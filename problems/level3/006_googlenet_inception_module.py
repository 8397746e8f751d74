"""Inception module: four parallel branches of convolutions or pooling, concatenated by channel."""

import torch
import torch.nn as nn

BATCH_SIZE = 10
HEIGHT = 224
WIDTH = 224
IN_CHANNELS = 480
OUT_1X1 = 192
REDUCE_3X3 = 96
OUT_3X3 = 208
REDUCE_5X5 = 16
OUT_5X5 = 48
POOL_PROJ = 64

SMOKE = {
    "BATCH_SIZE": 2,
    "HEIGHT": 19,
    "WIDTH": 23,
    "IN_CHANNELS": 30,
    "OUT_1X1": 12,
    "REDUCE_3X3": 10,
    "OUT_3X3": 14,
    "REDUCE_5X5": 6,
    "OUT_5X5": 9,
    "POOL_PROJ": 7,
}
SHAPES = [
    {"BATCH_SIZE": 1, "HEIGHT": 57, "WIDTH": 31},
    {"BATCH_SIZE": 4, "HEIGHT": 112, "WIDTH": 112},
]


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_1x1: int,
        reduce_3x3: int,
        out_3x3: int,
        reduce_5x5: int,
        out_5x5: int,
        pool_proj: int,
    ) -> None:
        super().__init__()
        self.branch1x1 = nn.Conv2d(in_channels, out_1x1, kernel_size=1)
        self.branch3x3 = nn.Sequential(
            nn.Conv2d(in_channels, reduce_3x3, kernel_size=1),
            nn.Conv2d(reduce_3x3, out_3x3, kernel_size=3, padding=1),
        )
        self.branch5x5 = nn.Sequential(
            nn.Conv2d(in_channels, reduce_5x5, kernel_size=1),
            nn.Conv2d(reduce_5x5, out_5x5, kernel_size=5, padding=2),
        )
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1),
            nn.Conv2d(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_1X1, REDUCE_3X3, OUT_3X3, REDUCE_5X5, OUT_5X5, POOL_PROJ]
