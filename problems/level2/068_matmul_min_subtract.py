"""Linear, minimum with a learnable scalar, minus the same scalar.

Changed: inputs of standard deviation 4, so that the minimum with 2 binds; it never did.
"""

import torch
from torch import nn

BATCH_SIZE = 128
IN_FEATURES = 16384
OUT_FEATURES = 16384
CONSTANT = 2.0

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 93, "IN_FEATURES": 691, "OUT_FEATURES": 933},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 64, "IN_FEATURES": 8192, "OUT_FEATURES": 8192},
]


class Model(nn.Module):
    """min(linear(x), constant) - constant."""

    def __init__(self, in_features: int, out_features: int, constant: float) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.constant = nn.Parameter(torch.tensor(constant))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.min(self.linear(x), self.constant) - self.constant


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 4]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, CONSTANT]
