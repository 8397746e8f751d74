"""Linear, subtraction, multiplication, ReLU.

Changed: inputs of standard deviation 4; at the original scale no value exceeds the subtracted 2 and
the output is zero.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
SUBTRACT_VALUE = 2.0
MULTIPLY_VALUE = 1.5

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 40, "IN_FEATURES": 578, "OUT_FEATURES": 1013},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """relu((linear(x) - subtract_value) * multiply_value)."""

    def __init__(
        self, in_features: int, out_features: int, subtract_value: float, multiply_value: float
    ) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.subtract_value = subtract_value
        self.multiply_value = multiply_value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.linear(x) - self.subtract_value
        return torch.relu(x * self.multiply_value)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 4]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, SUBTRACT_VALUE, MULTIPLY_VALUE]
