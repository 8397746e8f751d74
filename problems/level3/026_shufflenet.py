"""ShuffleNet with stages of 3, 7 and 3 units, all of stride one.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out. Each image is noise around a brightness and a colour of its own: the average over
all pixels at the end hardly tells one image of plain noise from another.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
INPUT_CHANNELS = 3
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 2, "HEIGHT": 65, "WIDTH": 49, "NUM_CLASSES": 211}
SHAPES = [
    {"BATCH_SIZE": 3, "HEIGHT": 83, "WIDTH": 99, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 4, "HEIGHT": 128, "WIDTH": 160, "NUM_CLASSES": 1000},
]


class ChannelShuffle(nn.Module):
    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch_size, channels, height, width = x.shape
        x = x.view(batch_size, self.groups, channels // self.groups, height, width)
        return x.transpose(1, 2).reshape(batch_size, channels, height, width)


class ShuffleNetUnit(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, groups: int) -> None:
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

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = self.shuffle(out)
        out = F.relu(self.bn3(self.conv3(out)))
        return out + self.shortcut(x)


class Model(nn.Module):
    def __init__(
        self,
        num_classes: int = 1000,
        groups: int = 3,
        stages_repeats: tuple[int, ...] = (3, 7, 3),
        stages_out_channels: tuple[int, ...] = (24, 240, 480, 960),
    ) -> None:
        super().__init__()
        widths = stages_out_channels
        self.conv1 = nn.Conv2d(3, widths[0], kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.stage2 = self._stage(widths[0], widths[1], stages_repeats[0], groups)
        self.stage3 = self._stage(widths[1], widths[2], stages_repeats[1], groups)
        self.stage4 = self._stage(widths[2], widths[3], stages_repeats[2], groups)
        self.conv5 = nn.Conv2d(widths[3], 1024, kernel_size=1, bias=False)
        self.bn5 = nn.BatchNorm2d(1024)
        self.fc = nn.Linear(1024, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    @staticmethod
    def _stage(in_channels: int, out_channels: int, repeats: int, groups: int) -> nn.Sequential:
        first = ShuffleNetUnit(in_channels, out_channels, groups)
        rest = [ShuffleNetUnit(out_channels, out_channels, groups) for _ in range(repeats - 1)]
        return nn.Sequential(first, *rest)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.stage4(self.stage3(self.stage2(x)))
        x = F.relu(self.bn5(self.conv5(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def get_inputs() -> list:
    tint = torch.randn(BATCH_SIZE, INPUT_CHANNELS, 1, 1)
    return [tint + torch.randn(BATCH_SIZE, INPUT_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
