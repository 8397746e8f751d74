"""ConvTranspose3d, LogSumExp over channels, x * sigmoid(x + 3) / 6, subtraction, clamp.

Changed: inputs of standard deviation 64 and a bias drawn from [1, 2), so that the LogSumExp depends
on the input and the difference lies about 0, where the clamp binds in places.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 3
OUT_CHANNELS = 16
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 3
STRIDE = 2
PADDING = 1
BIAS_SHAPE = (1, 1, 1, 1)

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 3, "OUT_CHANNELS": 9, "DEPTH": 5, "HEIGHT": 9, "WIDTH": 7}
SHAPES = [
    {"BATCH_SIZE": 5, "IN_CHANNELS": 5, "OUT_CHANNELS": 11, "DEPTH": 11, "HEIGHT": 19, "WIDTH": 17},
    {"BATCH_SIZE": 16, "DEPTH": 8, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """clamp(v * sigmoid(v + 3) / 6 - bias, -1, 1).

    v is logsumexp(conv_transpose(x), over channels).
    """

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
        self.bias = nn.Parameter(torch.rand(bias_shape) + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.logsumexp(self.conv_transpose(x), dim=1, keepdim=True)
        x = x * torch.sigmoid(x + 3) / 6
        return torch.clamp(x - self.bias, min=-1, max=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 64]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, BIAS_SHAPE]
