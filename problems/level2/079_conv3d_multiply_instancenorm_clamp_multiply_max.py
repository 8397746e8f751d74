"""Conv3d, multiplier, InstanceNorm3d, clamp, the same multiplier, maximum over channels."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
CLAMP_MIN = -1.0
CLAMP_MAX = 1.0

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 9,
    "DEPTH": 7,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 5, "OUT_CHANNELS": 13, "DEPTH": 11, "HEIGHT": 19, "WIDTH": 17},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """max(clamp(instance_norm(conv(x) * m)) * m, over channels).

    The norm cancels the size of the first m.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        multiplier_shape: tuple[int, ...],
        clamp_min: float,
        clamp_max: float,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.multiplier = nn.Parameter(torch.randn(multiplier_shape))
        self.instance_norm = nn.InstanceNorm3d(out_channels)
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.instance_norm(self.conv(x) * self.multiplier)
        x = torch.clamp(x, self.clamp_min, self.clamp_max) * self.multiplier
        return torch.max(x, dim=1).values


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 2]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1, 1), CLAMP_MIN, CLAMP_MAX]
