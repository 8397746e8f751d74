"""Vanilla recurrent network over a sequence, with the output of every step."""

import torch
import torch.nn as nn

BATCH_SIZE = 8
SEQUENCE_LENGTH = 256
INPUT_SIZE = 1024
HIDDEN_SIZE = 256
OUTPUT_SIZE = 128

SMOKE = {
    "BATCH_SIZE": 5,
    "SEQUENCE_LENGTH": 9,
    "INPUT_SIZE": 37,
    "HIDDEN_SIZE": 23,
    "OUTPUT_SIZE": 11,
}
SHAPES = [
    {
        "BATCH_SIZE": 5,
        "SEQUENCE_LENGTH": 31,
        "INPUT_SIZE": 99,
        "HIDDEN_SIZE": 65,
        "OUTPUT_SIZE": 33,
    },
    {"BATCH_SIZE": 2, "SEQUENCE_LENGTH": 128, "INPUT_SIZE": 512, "HIDDEN_SIZE": 512},
]


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        hidden = h0
        outputs = []
        for step in x:
            hidden = self.tanh(self.i2h(torch.cat([step, hidden], dim=1)))
            outputs.append(self.h2o(hidden))
        return torch.stack(outputs)


def get_inputs() -> list:
    return [
        torch.randn(SEQUENCE_LENGTH, BATCH_SIZE, INPUT_SIZE),
        torch.randn(BATCH_SIZE, HIDDEN_SIZE),
    ]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, OUTPUT_SIZE]
