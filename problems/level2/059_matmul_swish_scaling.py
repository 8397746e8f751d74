"""Linear, swish, scaling."""

import torch
from torch import nn

BATCH_SIZE = 128
IN_FEATURES = 32768
OUT_FEATURES = 32768
SCALING_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 90, "IN_FEATURES": 628, "OUT_FEATURES": 941},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 64, "IN_FEATURES": 16384, "OUT_FEATURES": 16384},
]


class Model(nn.Module):
    """swish(linear(x)) * scaling_factor."""

    def __init__(self, in_features: int, out_features: int, scaling_factor: float) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x)
        return x * torch.sigmoid(x) * self.scaling_factor


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, SCALING_FACTOR]
