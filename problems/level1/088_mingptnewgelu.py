"""GELU in the tanh approximation, written out as in minGPT."""

import math

import torch
from torch import nn

BATCH_SIZE = 8192
DIM = 8192

SMOKE = {"BATCH_SIZE": 67, "DIM": 1003}
SHAPES = [
    {"BATCH_SIZE": 512, "DIM": 1024},
    {"BATCH_SIZE": 1029, "DIM": 3001},
    {"BATCH_SIZE": 4096, "DIM": 4096},
]


class Model(nn.Module):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).mul_(2)]


def get_init_inputs() -> list:
    return []
