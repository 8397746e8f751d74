"""SqueezeNet 1.0: eight fire modules, a convolution as classifier and global average pooling.

Changed: the convolution weights are drawn by Kaiming's rule for ReLU, and each image is noise
around a brightness and a colour of its own. Before, the signal died out and every image gave the
same scores to float32 precision.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 64
INPUT_CHANNELS = 3
HEIGHT = 512
WIDTH = 512
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 2, "HEIGHT": 97, "WIDTH": 65, "NUM_CLASSES": 211}
SHAPES = [
    {"BATCH_SIZE": 3, "HEIGHT": 131, "WIDTH": 99, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 8, "HEIGHT": 256, "WIDTH": 224, "NUM_CLASSES": 1000},
]


class FireModule(nn.Module):
    def __init__(self, in_channels: int, squeeze_channels: int, expand_channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand_channels, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand_channels, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        narrow = self.expand1x1_activation(self.expand1x1(x))
        wide = self.expand3x3_activation(self.expand3x3(x))
        return torch.cat([narrow, wide], dim=1)


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, kernel_size=7, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(96, 16, 64),
            FireModule(128, 16, 64),
            FireModule(128, 32, 128),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(256, 32, 128),
            FireModule(256, 48, 192),
            FireModule(384, 48, 192),
            FireModule(384, 64, 256),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(512, 64, 256),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(p=0.0),
            nn.Conv2d(512, num_classes, kernel_size=1),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
        )
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(self.classifier(self.features(x)), 1)


def get_inputs() -> list:
    tint = torch.randn(BATCH_SIZE, INPUT_CHANNELS, 1, 1)
    return [tint + torch.randn(BATCH_SIZE, INPUT_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
