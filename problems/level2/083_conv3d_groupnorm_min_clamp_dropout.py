"""Conv3d, GroupNorm, minimum with a constant, clamp, dropout in training mode.

Changed: the minimum is taken with max_value; with min_value the clamp that follows gives min_value
everywhere. The GroupNorm's weight and bias are drawn at random.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 3
GROUPS = 8
MIN_VALUE = 0.0
MAX_VALUE = 1.0
DROPOUT_P = 0.2

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 24,
    "DEPTH": 7,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 5, "DEPTH": 13, "HEIGHT": 29, "WIDTH": 37},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]
FAMILIES = ()  # a float64 reference may draw another dropout mask


class Model(nn.Module):
    """dropout(clamp(min(group_norm(conv(x)), max_value), min_value, max_value))."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        groups: int,
        min_value: float,
        max_value: float,
        dropout_p: float,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.norm = nn.GroupNorm(groups, out_channels)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.min_value = min_value
        self.max_value = max_value
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.conv(x))
        x = torch.min(x, x.new_full((), self.max_value))
        x = torch.clamp(x, min=self.min_value, max=self.max_value)
        return self.dropout(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, GROUPS, MIN_VALUE, MAX_VALUE, DROPOUT_P]
