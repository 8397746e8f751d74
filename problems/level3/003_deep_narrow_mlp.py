"""Deep and narrow multi-layer perceptron: sixteen hidden layers of 1024 units.

Changed: the weights are drawn by Kaiming's rule for ReLU. Under PyTorch's default each layer loses
more than half of the signal, so that after seventeen of them every input gave the same output.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 1024
INPUT_SIZE = 8192
HIDDEN_LAYER_SIZES = [1024] * 16
OUTPUT_SIZE = 8192

SMOKE = {"BATCH_SIZE": 9, "INPUT_SIZE": 131, "HIDDEN_LAYER_SIZES": [67] * 16, "OUTPUT_SIZE": 73}
SHAPES = [
    {"BATCH_SIZE": 65, "INPUT_SIZE": 300, "HIDDEN_LAYER_SIZES": [250] * 7, "OUTPUT_SIZE": 123},
    {"BATCH_SIZE": 256, "INPUT_SIZE": 2048, "HIDDEN_LAYER_SIZES": [512] * 16, "OUTPUT_SIZE": 2048},
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
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_LAYER_SIZES, OUTPUT_SIZE]
