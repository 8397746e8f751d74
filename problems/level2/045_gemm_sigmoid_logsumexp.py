"""Linear, sigmoid, Linear, LogSumExp over the features.

Changed: inputs of standard deviation 4 and a second weight of standard deviation 8 /
sqrt(hidden_size), so that the LogSumExp depends on its arguments; they were so small that it was
log(1024) for every input.
"""

import math

import torch
from torch import nn

BATCH_SIZE = 16384
INPUT_SIZE = 2048
HIDDEN_SIZE = 4096
OUTPUT_SIZE = 1024

SMOKE = {"BATCH_SIZE": 259, "INPUT_SIZE": 67, "HIDDEN_SIZE": 97, "OUTPUT_SIZE": 53}
SHAPES = [
    {"BATCH_SIZE": 52, "INPUT_SIZE": 530, "HIDDEN_SIZE": 981, "OUTPUT_SIZE": 681},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "HIDDEN_SIZE": 1024, "OUTPUT_SIZE": 1024},
    {"BATCH_SIZE": 4096, "INPUT_SIZE": 1024, "HIDDEN_SIZE": 2048, "OUTPUT_SIZE": 512},
]


class Model(nn.Module):
    """One number a row: logsumexp(linear2(sigmoid(linear1(x))))."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(input_size, hidden_size)
        self.linear2 = nn.Linear(hidden_size, output_size)
        nn.init.normal_(self.linear2.weight, std=8 / math.sqrt(hidden_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(self.linear1(x))
        return torch.logsumexp(self.linear2(x), dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE) * 4]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, OUTPUT_SIZE]
