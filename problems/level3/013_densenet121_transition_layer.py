"""DenseNet transition layer: batch norm, ReLU, 1x1 convolution and 2x2 average pooling.

Changed: scales and shifts of the batch norm are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 128
NUM_INPUT_FEATURES = 32
NUM_OUTPUT_FEATURES = 64
HEIGHT = 256
WIDTH = 256

SMOKE = {
    "BATCH_SIZE": 3,
    "NUM_INPUT_FEATURES": 10,
    "NUM_OUTPUT_FEATURES": 14,
    "HEIGHT": 19,
    "WIDTH": 23,
}
SHAPES = [
    {"BATCH_SIZE": 5, "NUM_INPUT_FEATURES": 33, "HEIGHT": 57, "WIDTH": 91},
    {"BATCH_SIZE": 32, "NUM_OUTPUT_FEATURES": 16, "HEIGHT": 128, "WIDTH": 128},
]


class Model(nn.Module):
    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )
        nn.init.uniform_(self.transition[0].weight, 0.5, 1.5)
        nn.init.normal_(self.transition[0].bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.transition(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, NUM_INPUT_FEATURES, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_INPUT_FEATURES, NUM_OUTPUT_FEATURES]
