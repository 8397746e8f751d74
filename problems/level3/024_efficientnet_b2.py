"""EfficientNet-B2 in short form: five inverted bottlenecks with squeeze and excitation.

Changed: the squeeze branch gates the features, as published; it used to stand in line with them, so
that all maps after the first block had a single pixel and batch norm over two values turned
rounding errors into flipped signs (no tolerance could judge that). Scales and shifts of the batch
norms are drawn at random; ones and zeros would let a kernel leave them out. Shifts around 0.5 keep
rounding errors from growing layer by layer.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 2
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 3, "HEIGHT": 49, "WIDTH": 65, "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 4, "HEIGHT": 111, "WIDTH": 95, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 3, "HEIGHT": 160, "WIDTH": 144, "NUM_CLASSES": 1000},
]


def chain(layers: list[nn.Module], x: torch.Tensor) -> torch.Tensor:
    for layer in layers:
        x = layer(x)
    return x


class MBConv(nn.Sequential):
    """Layers 0 to 5 expand and filter, 6 to 10 squeeze and excite, 11 and 12 project."""

    def __init__(self, in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> None:
        width = in_channels * expand_ratio
        squeezed = width // 4
        super().__init__(
            nn.Conv2d(in_channels, width, kernel_size=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride=stride, padding=1, groups=width, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
            nn.Conv2d(width, squeezed, kernel_size=1, bias=False),
            nn.ReLU(inplace=True),
            nn.Conv2d(squeezed, width, kernel_size=1, bias=False),
            nn.Sigmoid(),
            nn.Conv2d(width, out_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        layers = list(self)
        features = chain(layers[:6], x)
        gate = chain(layers[6:11], features)
        return chain(layers[11:], features * gate)


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.relu = nn.ReLU(inplace=True)
        self.mbconv1 = MBConv(32, 96, stride=1, expand_ratio=3)
        self.mbconv2 = MBConv(96, 144, stride=2, expand_ratio=6)
        self.mbconv3 = MBConv(144, 192, stride=2, expand_ratio=6)
        self.mbconv4 = MBConv(192, 288, stride=2, expand_ratio=6)
        self.mbconv5 = MBConv(288, 384, stride=1, expand_ratio=6)
        self.conv_final = nn.Conv2d(384, 1408, kernel_size=1, bias=False)
        self.bn_final = nn.BatchNorm2d(1408)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(1408, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, mean=0.5, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.mbconv2(self.mbconv1(x))
        x = self.mbconv5(self.mbconv4(self.mbconv3(x)))
        x = self.relu(self.bn_final(self.conv_final(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
