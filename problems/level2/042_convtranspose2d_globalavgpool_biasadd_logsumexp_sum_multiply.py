"""ConvTranspose2d, global average, bias, LogSumExp over channels, sum, multiplication by 10.

Changed: each channel of each sample has its own level; the mean over independent noise is the same
for every input.
"""

import torch
from torch import nn

BATCH_SIZE = 16
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 512
WIDTH = 512
KERNEL_SIZE = 3

SMOKE = {"BATCH_SIZE": 257, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 11, "WIDTH": 9}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 49, "OUT_CHANNELS": 84, "HEIGHT": 171, "WIDTH": 229},
    {"BATCH_SIZE": 2, "HEIGHT": 256, "WIDTH": 256},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """One number a sample.

    10 * sum(logsumexp(mean(conv_transpose(x), over space) + bias, over channels)).
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.mean(self.conv_transpose(x), dim=(2, 3), keepdim=True)
        x = torch.logsumexp(x + self.bias, dim=1, keepdim=True)
        return torch.sum(x, dim=(2, 3)) * 10.0


def get_inputs() -> list:
    noise = torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)
    level = torch.randn(BATCH_SIZE, IN_CHANNELS, 1, 1)
    return [noise + 8 * level]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, (OUT_CHANNELS, 1, 1)]
