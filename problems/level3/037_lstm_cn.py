"""LSTM of six layers over a sequence; the final cell states of all layers.

Changed: gate biases give memories of up to 255 steps (input gates the less), and input weights are
drawn six times as wide; under the default h0 and c0 had no effect after 512 steps. The linear layer
fc, a parameter that the output does not depend on, is not computed.
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
    "BATCH_SIZE": 5,
    "SEQUENCE_LENGTH": 9,
    "INPUT_SIZE": 13,
    "HIDDEN_SIZE": 22,
    "NUM_LAYERS": 3,
    "OUTPUT_SIZE": 7,
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
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)
        bound = 6 / math.sqrt(hidden_size)
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.uniform_(parameter, -bound, bound)
            elif name.startswith("bias_ih"):
                memory = torch.log(torch.empty(hidden_size).uniform_(1, 255))
                with torch.no_grad():
                    parameter[:hidden_size] = -memory
                    parameter[hidden_size : 2 * hidden_size] = memory

    def forward(self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
        _, (_, c_n) = self.lstm(x, (h0, c0))
        return c_n


def get_inputs() -> list:
    return [
        torch.randn(BATCH_SIZE, SEQUENCE_LENGTH, INPUT_SIZE),
        torch.randn(NUM_LAYERS, BATCH_SIZE, HIDDEN_SIZE),
        torch.randn(NUM_LAYERS, BATCH_SIZE, HIDDEN_SIZE),
    ]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, NUM_LAYERS, OUTPUT_SIZE, DROPOUT]
