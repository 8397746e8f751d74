"""ResNet basic block: two 3x3 convolutions with batch norm and a projected shortcut.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
IN_CHANNELS = 3
OUT_CHANNELS = 64
STRIDE = 1
HEIGHT = 224
WIDTH = 224

SMOKE = {"BATCH_SIZE": 2, "OUT_CHANNELS": 10, "HEIGHT": 37, "WIDTH": 45}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 33, "HEIGHT": 61, "WIDTH": 47},
    {"BATCH_SIZE": 4, "STRIDE": 2, "HEIGHT": 160, "WIDTH": 192},
]


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + self.downsample(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, STRIDE]
