"""One step of a vanilla recurrent network: hidden state from input and hidden state, then output.

Changed: no state is kept between calls. The original stored the new hidden state in the module,
though each call was given its own initial one; without one, the hidden state is zero.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 256
INPUT_SIZE = 16384
HIDDEN_SIZE = 16384
OUTPUT_SIZE = 8192

SMOKE = {"BATCH_SIZE": 15, "INPUT_SIZE": 67, "HIDDEN_SIZE": 41, "OUTPUT_SIZE": 23}
SHAPES = [
    {"BATCH_SIZE": 33, "INPUT_SIZE": 500, "HIDDEN_SIZE": 700, "OUTPUT_SIZE": 300},
    {"BATCH_SIZE": 64, "INPUT_SIZE": 4096, "HIDDEN_SIZE": 4096, "OUTPUT_SIZE": 2048},
]


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor, initial_hidden: torch.Tensor | None = None) -> torch.Tensor:
        if initial_hidden is None:
            initial_hidden = x.new_zeros(x.shape[0], self.hidden_size)
        hidden = self.tanh(self.i2h(torch.cat([x, initial_hidden], dim=1)))
        return self.h2o(hidden)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE), torch.randn(BATCH_SIZE, HIDDEN_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, OUTPUT_SIZE]
