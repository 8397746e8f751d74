"""EfficientNet-B1 in short form: seven inverted bottlenecks with ReLU6, no residual additions.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out. Shifts around 0.5 keep rounding errors from growing layer by layer.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
HEIGHT = 240
WIDTH = 240
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 3, "HEIGHT": 65, "WIDTH": 81, "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 4, "HEIGHT": 111, "WIDTH": 143, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 3, "HEIGHT": 240, "WIDTH": 192, "NUM_CLASSES": 1000},
]


def mbconv(in_channels: int, out_channels: int, stride: int, expand_ratio: int) -> nn.Sequential:
    width = in_channels * expand_ratio
    return nn.Sequential(
        nn.Conv2d(in_channels, width, kernel_size=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU6(inplace=True),
        nn.Conv2d(width, width, 3, stride=stride, padding=1, groups=width, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU6(inplace=True),
        nn.Conv2d(width, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.mbconv1 = mbconv(32, 16, stride=1, expand_ratio=1)
        self.mbconv2 = mbconv(16, 24, stride=2, expand_ratio=6)
        self.mbconv3 = mbconv(24, 40, stride=2, expand_ratio=6)
        self.mbconv4 = mbconv(40, 80, stride=2, expand_ratio=6)
        self.mbconv5 = mbconv(80, 112, stride=1, expand_ratio=6)
        self.mbconv6 = mbconv(112, 192, stride=2, expand_ratio=6)
        self.mbconv7 = mbconv(192, 320, stride=1, expand_ratio=6)
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, mean=0.5, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.mbconv3(self.mbconv2(self.mbconv1(x)))
        x = self.mbconv6(self.mbconv5(self.mbconv4(x)))
        x = self.mbconv7(x)
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
