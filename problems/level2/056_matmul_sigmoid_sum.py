"""Linear, sigmoid, sum over the features.

Changed: the weight is drawn from [0, 2 / sqrt(input_size)), so that the features of a row rise and
fall together; with a weight around 0 their sigmoids add up to half their number for every input.
"""

import math

import torch
from torch import nn

BATCH_SIZE = 128
INPUT_SIZE = 32768
HIDDEN_SIZE = 32768

SMOKE = {"BATCH_SIZE": 259, "INPUT_SIZE": 131, "HIDDEN_SIZE": 97}
SHAPES = [
    {"BATCH_SIZE": 69, "INPUT_SIZE": 607, "HIDDEN_SIZE": 861},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "HIDDEN_SIZE": 1024},
    {"BATCH_SIZE": 64, "INPUT_SIZE": 16384, "HIDDEN_SIZE": 16384},
]


class Model(nn.Module):
    """One number a row: sum(sigmoid(linear(x)))."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(input_size, hidden_size)
        nn.init.uniform_(self.linear.weight, 0.0, 2 / math.sqrt(input_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(torch.sigmoid(self.linear(x)), dim=1, keepdim=True)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE) * 2]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE]
