"""Max pooling of sequences, dilated and padded."""

import torch
from torch import nn

BATCH_SIZE = 64
FEATURES = 192
SEQUENCE_LENGTH = 65536
KERNEL_SIZE = 8
STRIDE = 1
PADDING = 4
DILATION = 3
RETURN_INDICES = False

SMOKE = {"BATCH_SIZE": 3, "FEATURES": 5, "SEQUENCE_LENGTH": 211}
SHAPES = [
    {"BATCH_SIZE": 8, "FEATURES": 32, "SEQUENCE_LENGTH": 1024},
    {"BATCH_SIZE": 5, "FEATURES": 67, "SEQUENCE_LENGTH": 4099},
    {"BATCH_SIZE": 16},
]


class Model(nn.Module):
    """MaxPool1d."""

    def __init__(
        self,
        kernel_size: int,
        stride: int | None = None,
        padding: int = 0,
        dilation: int = 1,
        return_indices: bool = False,
    ) -> None:
        super().__init__()
        self.maxpool = nn.MaxPool1d(
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def get_inputs() -> list:
    # Mostly negative, so that a border padded with zeros instead of minus infinity shows.
    return [torch.randn(BATCH_SIZE, FEATURES, SEQUENCE_LENGTH).sub_(2)]


def get_init_inputs() -> list:
    return [KERNEL_SIZE, STRIDE, PADDING, DILATION, RETURN_INDICES]
