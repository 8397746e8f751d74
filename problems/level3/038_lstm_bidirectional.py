"""Bidirectional LSTM of six layers; a linear layer reads the last step of both directions.

Changed: input weights are drawn three times as wide; under the default the input moved the output
by no more than 2e-4 (the last step of the backward direction is its first).
"""

import math

import torch
import torch.nn as nn

BATCH_SIZE = 10
SEQUENCE_LENGTH = 512
INPUT_SIZE = 128
HIDDEN_SIZE = 256
NUM_LAYERS = 6
OUTPUT_SIZE = 10
DROPOUT = 0.0

SMOKE = {
    "BATCH_SIZE": 37,
    "SEQUENCE_LENGTH": 9,
    "INPUT_SIZE": 13,
    "HIDDEN_SIZE": 22,
    "NUM_LAYERS": 3,
    "OUTPUT_SIZE": 11,
}
SHAPES = [
    {"BATCH_SIZE": 3, "SEQUENCE_LENGTH": 31, "INPUT_SIZE": 50, "HIDDEN_SIZE": 65, "NUM_LAYERS": 2},
    {"BATCH_SIZE": 16, "SEQUENCE_LENGTH": 128, "HIDDEN_SIZE": 192, "NUM_LAYERS": 4},
]


class Model(nn.Module):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        output_size: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            input_size,
            hidden_size,
            num_layers,
            batch_first=True,
            dropout=dropout,
            bidirectional=True,
        )
        self.fc = nn.Linear(2 * hidden_size, output_size)
        bound = 3 / math.sqrt(hidden_size)
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
        steps, _ = self.lstm(x, (h0, c0))
        return self.fc(steps[:, -1])


def get_inputs() -> list:
    return [
        torch.randn(BATCH_SIZE, SEQUENCE_LENGTH, INPUT_SIZE),
        torch.randn(2 * NUM_LAYERS, BATCH_SIZE, HIDDEN_SIZE),
        torch.randn(2 * NUM_LAYERS, BATCH_SIZE, HIDDEN_SIZE),
    ]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, NUM_LAYERS, OUTPUT_SIZE, DROPOUT]
