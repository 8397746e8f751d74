"""ResNet-101: stages of 3, 4, 23 and 3 bottleneck blocks, batch norm in training mode.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out. The last scale of each block is small: otherwise rounding errors grow over a hundred
layers beyond the tolerance.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
HEIGHT = 224
WIDTH = 224
LAYERS = [3, 4, 23, 3]
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 3, "HEIGHT": 65, "WIDTH": 97, "LAYERS": [1, 2, 2, 1], "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 4, "HEIGHT": 111, "WIDTH": 143, "LAYERS": [3, 4, 6, 3], "NUM_CLASSES": 77},
    {"BATCH_SIZE": 3, "HEIGHT": 224, "WIDTH": 192},
]


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, in_channels: int, width: int, stride: int) -> None:
        super().__init__()
        out_channels = width * self.expansion
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out_channels, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or in_channels != out_channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + shortcut)


class Model(nn.Module):
    def __init__(self, layers: list[int], num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._stage(64, 64, layers[0], stride=1)
        self.layer2 = self._stage(256, 128, layers[1], stride=2)
        self.layer3 = self._stage(512, 256, layers[2], stride=2)
        self.layer4 = self._stage(1024, 512, layers[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * Bottleneck.expansion, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)
        for layer in self.modules():
            if isinstance(layer, Bottleneck):
                nn.init.uniform_(layer.bn3.weight, 0.1, 0.5)

    def _stage(self, in_channels: int, width: int, depth: int, stride: int) -> nn.Sequential:
        out_channels = width * Bottleneck.expansion
        first = Bottleneck(in_channels, width, stride)
        rest = [Bottleneck(out_channels, width, 1) for _ in range(depth - 1)]
        return nn.Sequential(first, *rest)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        x = self.layer4(self.layer3(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [LAYERS, NUM_CLASSES]
