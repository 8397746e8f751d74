"""1D convolution, dilated and strided."""

import torch
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 64
OUT_CHANNELS = 128
LENGTH = 524280
KERNEL_SIZE = 3
STRIDE = 3
DILATION = 4

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 10, "OUT_CHANNELS": 14, "LENGTH": 203}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 20, "OUT_CHANNELS": 36, "LENGTH": 4099},
    {"BATCH_SIZE": 16, "LENGTH": 262140},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """A Conv1d."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        dilation: int = 1,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.conv1d = nn.Conv1d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            dilation=dilation,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, LENGTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, DILATION]
