"""Linear, division, GELU.

Changed: inputs of standard deviation 16; after the division by 10 the GELU saw values of 0.03,
where it is x / 2.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
INPUT_SIZE = 8192
OUTPUT_SIZE = 8192
DIVISOR = 10.0

SMOKE = {"BATCH_SIZE": 13, "INPUT_SIZE": 131, "OUTPUT_SIZE": 97}
SHAPES = [
    {"BATCH_SIZE": 39, "INPUT_SIZE": 517, "OUTPUT_SIZE": 917},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "OUTPUT_SIZE": 1024},
    {"BATCH_SIZE": 256, "INPUT_SIZE": 4096, "OUTPUT_SIZE": 4096},
]


class Model(nn.Module):
    """gelu(linear(x) / divisor)."""

    def __init__(self, input_size: int, output_size: int, divisor: float) -> None:
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)
        self.divisor = divisor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.linear(x) / self.divisor)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE) * 16]


def get_init_inputs() -> list:
    return [INPUT_SIZE, OUTPUT_SIZE, DIVISOR]
