"""Linear, scaling, residual sum."""

import torch
from torch import nn

BATCH_SIZE = 16384
IN_FEATURES = 4096
OUT_FEATURES = 4096
SCALING_FACTOR = 0.5

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 77, "IN_FEATURES": 795, "OUT_FEATURES": 1013},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 4096, "IN_FEATURES": 2048, "OUT_FEATURES": 2048},
]


class Model(nn.Module):
    """scaling_factor * y + y with y = linear(x)."""

    def __init__(self, in_features: int, out_features: int, scaling_factor: float) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x)
        original = x.clone().detach()
        return x * self.scaling_factor + original


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, SCALING_FACTOR]
