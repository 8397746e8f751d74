"""Multi-layer perceptron: three linear layers with ReLU between them."""

import torch
import torch.nn as nn

BATCH_SIZE = 128
INPUT_SIZE = 16384
LAYER_SIZES = [16384, 16384]
OUTPUT_SIZE = 8192

SMOKE = {"BATCH_SIZE": 9, "INPUT_SIZE": 131, "LAYER_SIZES": [97, 103], "OUTPUT_SIZE": 61}
SHAPES = [
    {"BATCH_SIZE": 33, "INPUT_SIZE": 1000, "LAYER_SIZES": [1536, 777], "OUTPUT_SIZE": 513},
    {"BATCH_SIZE": 64, "INPUT_SIZE": 4096, "LAYER_SIZES": [4096, 4096], "OUTPUT_SIZE": 2048},
]


class Model(nn.Module):
    def __init__(self, input_size: int, layer_sizes: list[int], output_size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = input_size
        for layer_size in layer_sizes:
            layers += [nn.Linear(width, layer_size), nn.ReLU()]
            width = layer_size
        layers.append(nn.Linear(width, output_size))
        self.network = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, LAYER_SIZES, OUTPUT_SIZE]
