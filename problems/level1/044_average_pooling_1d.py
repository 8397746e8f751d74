"""Average pooling of sequences; the padding counts in the average."""

import torch
from torch import nn

BATCH_SIZE = 64
IN_CHANNELS = 128
INPUT_LENGTH = 65536
KERNEL_SIZE = 8
STRIDE = 1
PADDING = 4

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "INPUT_LENGTH": 211}
SHAPES = [
    {"BATCH_SIZE": 8, "IN_CHANNELS": 32, "INPUT_LENGTH": 1024},
    {"BATCH_SIZE": 5, "IN_CHANNELS": 67, "INPUT_LENGTH": 4099},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """AvgPool1d."""

    def __init__(self, kernel_size: int, stride: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.avg_pool = nn.AvgPool1d(kernel_size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def get_inputs() -> list:
    # Scaled so that the averages have a deviation of 1.
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, INPUT_LENGTH).mul_(KERNEL_SIZE**0.5)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE, STRIDE, PADDING]
