"""LSTM of six layers over a sequence; a linear layer reads the last step.

Changed: input weights are drawn four times as wide; under the default each layer lost most of the
signal, and the input moved the output by less than 1e-4. h0 and c0, when not given, are zero; they
were random numbers drawn in each call.
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
        self.num_layers = num_layers
        self.hidden_size = hidden_size
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)
        bound = 4 / math.sqrt(hidden_size)
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.uniform_(parameter, -bound, bound)

    def forward(
        self,
        x: torch.Tensor,
        h0: torch.Tensor | None = None,
        c0: torch.Tensor | None = None,
    ) -> torch.Tensor:
        zeros = x.new_zeros(self.num_layers, x.shape[0], self.hidden_size)
        state = (zeros if h0 is None else h0, zeros if c0 is None else c0)
        steps, _ = self.lstm(x, state)
        return self.fc(steps[:, -1])


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, SEQUENCE_LENGTH, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, NUM_LAYERS, OUTPUT_SIZE, DROPOUT]
