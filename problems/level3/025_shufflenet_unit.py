"""ShuffleNet unit: grouped 1x1 convolutions around a depthwise one, channel shuffle, shortcut.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
INPUT_CHANNELS = 240
OUT_CHANNELS = 480
GROUPS = 3
HEIGHT = 224
WIDTH = 224

SMOKE = {"BATCH_SIZE": 2, "INPUT_CHANNELS": 30, "OUT_CHANNELS": 60, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 3, "OUT_CHANNELS": 240, "HEIGHT": 31, "WIDTH": 57},
    {"BATCH_SIZE": 4, "INPUT_CHANNELS": 120, "GROUPS": 2, "HEIGHT": 112, "WIDTH": 112},
]


class ChannelShuffle(nn.Module):
    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch_size, channels, height, width = x.shape
        x = x.view(batch_size, self.groups, channels // self.groups, height, width)
        return x.transpose(1, 2).reshape(batch_size, channels, height, width)


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, groups: int = 3) -> None:
        super().__init__()
        mid = out_channels // 4
        self.conv1 = nn.Conv2d(in_channels, mid, kernel_size=1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(mid)
        self.conv2 = nn.Conv2d(mid, mid, kernel_size=3, padding=1, groups=mid, bias=False)
        self.bn2 = nn.BatchNorm2d(mid)
        self.conv3 = nn.Conv2d(mid, out_channels, kernel_size=1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.shuffle = ChannelShuffle(groups)
        self.shortcut = nn.Sequential()
        if in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
                nn.BatchNorm2d(out_channels),
            )
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = self.shuffle(out)
        out = F.relu(self.bn3(self.conv3(out)))
        return out + self.shortcut(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [INPUT_CHANNELS, OUT_CHANNELS, GROUPS]
