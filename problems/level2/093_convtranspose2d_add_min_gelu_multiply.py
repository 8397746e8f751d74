"""ConvTranspose2d, addition, minimum with 0, GELU, multiplication.

Changed: inputs of standard deviation 8; at the original scale nothing falls below the minimum with
0 and the output is zero.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 128
IN_CHANNELS = 64
OUT_CHANNELS = 128
HEIGHT = 64
WIDTH = 64
KERNEL_SIZE = 4
STRIDE = 2
ADD_VALUE = 0.5
MULTIPLY_VALUE = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 9, "HEIGHT": 11, "WIDTH": 13}
SHAPES = [
    {"BATCH_SIZE": 6, "IN_CHANNELS": 49, "OUT_CHANNELS": 81, "HEIGHT": 21, "WIDTH": 31},
    {"BATCH_SIZE": 16, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 32},
]


class Model(nn.Module):
    """gelu(min(conv_transpose(x) + add_value, 0)) * multiply_value."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        add_value: float,
        multiply_value: float,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride
        )
        self.add_value = add_value
        self.multiply_value = multiply_value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x) + self.add_value
        x = torch.min(x, x.new_zeros(()))
        return F.gelu(x) * self.multiply_value


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH) * 8]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, ADD_VALUE, MULTIPLY_VALUE]
