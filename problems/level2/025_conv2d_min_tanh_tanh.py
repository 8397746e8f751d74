"""Conv2d, minimum over channels, tanh, tanh."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 16
OUT_CHANNELS = 64
HEIGHT = 256
WIDTH = 256
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 23, "WIDTH": 19}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 13, "OUT_CHANNELS": 40, "HEIGHT": 87, "WIDTH": 117},
    {"BATCH_SIZE": 16, "HEIGHT": 128, "WIDTH": 128},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """tanh(tanh(min(conv(x), over channels)))."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.min(self.conv(x), dim=1, keepdim=True).values
        return torch.tanh(torch.tanh(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 0.5]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE]
