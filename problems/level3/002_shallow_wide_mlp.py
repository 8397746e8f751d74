"""Shallow and wide multi-layer perceptron: two hidden layers of 32768 units."""

import torch
import torch.nn as nn

BATCH_SIZE = 128
INPUT_SIZE = 16384
HIDDEN_LAYER_SIZES = [32768, 32768]
OUTPUT_SIZE = 16384

SMOKE = {"BATCH_SIZE": 9, "INPUT_SIZE": 67, "HIDDEN_LAYER_SIZES": [131, 137], "OUTPUT_SIZE": 71}
SHAPES = [
    {"BATCH_SIZE": 17, "INPUT_SIZE": 700, "HIDDEN_LAYER_SIZES": [3000, 3001], "OUTPUT_SIZE": 699},
    {"BATCH_SIZE": 64, "INPUT_SIZE": 4096, "HIDDEN_LAYER_SIZES": [8192, 8192], "OUTPUT_SIZE": 4096},
]


class Model(nn.Module):
    def __init__(self, input_size: int, hidden_layer_sizes: list[int], output_size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = input_size
        for hidden_size in hidden_layer_sizes:
            layers += [nn.Linear(width, hidden_size), nn.ReLU()]
            width = hidden_size
        layers.append(nn.Linear(width, output_size))
        self.network = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_LAYER_SIZES, OUTPUT_SIZE]
