"""RegNet-like classifier: stages of two 3x3 convolutions with batch norm, ReLU and max pooling.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out. Each image is noise around a brightness and a colour of its own: the average over
all pixels at the end hardly tells one image of plain noise from another.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 8
INPUT_CHANNELS = 3
IMAGE_HEIGHT = 224
IMAGE_WIDTH = 224
STAGES = 3
BLOCK_WIDTHS = [64, 128, 256]
OUTPUT_CLASSES = 10

SMOKE = {
    "BATCH_SIZE": 3,
    "IMAGE_HEIGHT": 35,
    "IMAGE_WIDTH": 45,
    "BLOCK_WIDTHS": [10, 14, 22],
    "OUTPUT_CLASSES": 151,
}
SHAPES = [
    {"IMAGE_HEIGHT": 57, "IMAGE_WIDTH": 91, "STAGES": 2, "BLOCK_WIDTHS": [33, 65]},
    {"BATCH_SIZE": 4, "IMAGE_HEIGHT": 128, "IMAGE_WIDTH": 160, "OUTPUT_CLASSES": 100},
]


class Model(nn.Module):
    def __init__(
        self, input_channels: int, stages: int, block_widths: list[int], output_classes: int
    ) -> None:
        super().__init__()
        widths = [input_channels, *block_widths]
        self.feature_extractor = nn.Sequential(
            *(self._stage(widths[i], widths[i + 1]) for i in range(stages))
        )
        self.fc = nn.Linear(block_widths[-1], output_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    @staticmethod
    def _stage(in_channels: int, out_channels: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.MaxPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.feature_extractor(x).mean(dim=(2, 3)))


def get_inputs() -> list:
    tint = torch.randn(BATCH_SIZE, INPUT_CHANNELS, 1, 1)
    return [tint + torch.randn(BATCH_SIZE, INPUT_CHANNELS, IMAGE_HEIGHT, IMAGE_WIDTH)]


def get_init_inputs() -> list:
    return [INPUT_CHANNELS, STAGES, BLOCK_WIDTHS, OUTPUT_CLASSES]
