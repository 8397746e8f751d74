"""Inverted bottleneck of EfficientNet without squeeze and excitation: expand, depthwise, project.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
IN_CHANNELS = 112
OUT_CHANNELS = 192
KERNEL_SIZE = 5
STRIDE = 2
EXPAND_RATIO = 6
HEIGHT = 224
WIDTH = 224

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 6, "OUT_CHANNELS": 10, "HEIGHT": 37, "WIDTH": 45}
SHAPES = [
    {
        "BATCH_SIZE": 2,
        "OUT_CHANNELS": 112,
        "KERNEL_SIZE": 3,
        "STRIDE": 1,
        "HEIGHT": 31,
        "WIDTH": 57,
    },
    {"BATCH_SIZE": 4, "IN_CHANNELS": 40, "OUT_CHANNELS": 80, "HEIGHT": 112, "WIDTH": 112},
]


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        expand_ratio: int,
    ) -> None:
        super().__init__()
        width = in_channels * expand_ratio
        self.use_residual = stride == 1 and in_channels == out_channels
        if expand_ratio != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(in_channels, width, kernel_size=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU6(inplace=True),
            )
        depthwise = nn.Conv2d(
            width, width, kernel_size, stride, kernel_size // 2, groups=width, bias=False
        )
        self.depthwise_conv = nn.Sequential(
            depthwise, nn.BatchNorm2d(width), nn.ReLU6(inplace=True)
        )
        self.project_conv = nn.Sequential(
            nn.Conv2d(width, out_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.expand_conv(x) if hasattr(self, "expand_conv") else x
        out = self.project_conv(self.depthwise_conv(out))
        return x + out if self.use_residual else out


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, EXPAND_RATIO]
