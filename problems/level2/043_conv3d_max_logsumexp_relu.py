"""Conv3d, MaxPool3d, LogSumExp over channels, ReLU.

Changed: inputs of standard deviation 4 and a bias around -8.5, so that the LogSumExp falls on both
sides of 0; it was 4.46 +- 0.01 and the ReLU the identity.
"""

import torch
from torch import nn

BATCH_SIZE = 4
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 128
WIDTH = 128
KERNEL_SIZE = 3
STRIDE = 1
PADDING = 1

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 5,
    "OUT_CHANNELS": 61,
    "DEPTH": 9,
    "HEIGHT": 13,
    "WIDTH": 11,
}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 25, "DEPTH": 13, "HEIGHT": 61, "WIDTH": 71},
    {"BATCH_SIZE": 2, "DEPTH": 16, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 1},
]


class Model(nn.Module):
    """relu(logsumexp(max_pool(conv(x)), over channels))."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int, padding: int
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        nn.init.uniform_(self.conv.bias, -9.5, -7.5)
        self.max_pool = nn.MaxPool3d(kernel_size=2, stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.logsumexp(self.max_pool(self.conv(x)), dim=1, keepdim=True)
        return torch.relu(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 4]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING]
