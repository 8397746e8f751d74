"""Linear, sigmoid, scaling, residual sum."""

import torch
from torch import nn

BATCH_SIZE = 1024
INPUT_SIZE = 8192
HIDDEN_SIZE = 8192
SCALING_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 13, "INPUT_SIZE": 131, "HIDDEN_SIZE": 97}
SHAPES = [
    {"BATCH_SIZE": 47, "INPUT_SIZE": 705, "HIDDEN_SIZE": 821},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "HIDDEN_SIZE": 1024},
    {"BATCH_SIZE": 256, "INPUT_SIZE": 4096, "HIDDEN_SIZE": 4096},
]


class Model(nn.Module):
    """sigmoid(y) * scaling_factor + y with y = linear(x)."""

    def __init__(self, input_size: int, hidden_size: int, scaling_factor: float) -> None:
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.gemm(x)
        return torch.sigmoid(x) * self.scaling_factor + x


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE) * 2]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, SCALING_FACTOR]
