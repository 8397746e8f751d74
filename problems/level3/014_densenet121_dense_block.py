"""Dense block: each layer (batch norm, ReLU, 3x3 convolution) sees all features before it.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
NUM_LAYERS = 6
NUM_INPUT_FEATURES = 32
GROWTH_RATE = 32
HEIGHT = 224
WIDTH = 224

SMOKE = {
    "BATCH_SIZE": 2,
    "NUM_LAYERS": 3,
    "NUM_INPUT_FEATURES": 10,
    "GROWTH_RATE": 7,
    "HEIGHT": 19,
    "WIDTH": 23,
}
SHAPES = [
    {"BATCH_SIZE": 3, "NUM_LAYERS": 4, "GROWTH_RATE": 12, "HEIGHT": 57, "WIDTH": 41},
    {"BATCH_SIZE": 4, "NUM_INPUT_FEATURES": 64, "HEIGHT": 112, "WIDTH": 112},
]


class Model(nn.Module):
    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            self._layer(num_input_features + i * growth_rate, growth_rate)
            for i in range(num_layers)
        )

    @staticmethod
    def _layer(in_features: int, growth_rate: int) -> nn.Sequential:
        norm = nn.BatchNorm2d(in_features)
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, std=0.2)
        return nn.Sequential(
            norm,
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
            nn.Dropout(p=0.0),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, dim=1)))
        return torch.cat(features, dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, NUM_INPUT_FEATURES, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_LAYERS, NUM_INPUT_FEATURES, GROWTH_RATE]
