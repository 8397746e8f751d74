"""Bidirectional GRU of six layers over a sequence, with the output of every step.

Changed: input weights are drawn two times as wide; under the default the layers lost most of the
input on its way up. The random tensor that the module kept and never used is gone.
"""

import math

import torch
import torch.nn as nn

BATCH_SIZE = 10
SEQ_LEN = 512
INPUT_SIZE = 128
HIDDEN_SIZE = 256
NUM_LAYERS = 6

SMOKE = {"BATCH_SIZE": 5, "SEQ_LEN": 9, "INPUT_SIZE": 13, "HIDDEN_SIZE": 22, "NUM_LAYERS": 3}
SHAPES = [
    {"BATCH_SIZE": 3, "SEQ_LEN": 31, "INPUT_SIZE": 50, "HIDDEN_SIZE": 65, "NUM_LAYERS": 2},
    {"BATCH_SIZE": 16, "SEQ_LEN": 128, "HIDDEN_SIZE": 192, "NUM_LAYERS": 4},
]


class Model(nn.Module):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 3,
        bias: bool = True,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        self.gru = nn.GRU(
            input_size, hidden_size, num_layers, bias, batch_first, bidirectional=True
        )
        bound = 2 / math.sqrt(hidden_size)
        for name, parameter in self.gru.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.uniform_(parameter, -bound, bound)

    def forward(self, x: torch.Tensor, h0: torch.Tensor) -> torch.Tensor:
        steps, _ = self.gru(x, h0)
        return steps


def get_inputs() -> list:
    return [
        torch.randn(SEQ_LEN, BATCH_SIZE, INPUT_SIZE),
        torch.randn(2 * NUM_LAYERS, BATCH_SIZE, HIDDEN_SIZE),
    ]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, NUM_LAYERS]
