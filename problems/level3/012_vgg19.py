"""VGG-19: five groups of 3x3 convolutions with ReLU and max pooling, then three linear layers.

Changed: the weights are drawn by Kaiming's rule for ReLU. Under PyTorch's default the signal died
out on the way and every image gave the same logits to float32 precision.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 1, "HEIGHT": 224, "WIDTH": 225, "NUM_CLASSES": 401}
SHAPES = [
    {"BATCH_SIZE": 1, "HEIGHT": 231, "WIDTH": 249, "NUM_CLASSES": 1000},
    {"BATCH_SIZE": 3, "HEIGHT": 224, "WIDTH": 224, "NUM_CLASSES": 101},
]


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width, depth in zip((64, 128, 256, 512, 512), (2, 2, 4, 4, 4), strict=True):
            for _ in range(depth):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=0.0),
            nn.Linear(4096, num_classes),
        )
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
