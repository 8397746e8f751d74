"""MobileNet v1: thirteen depthwise separable convolutions, batch norm in training mode.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out. Shifts around 0.5 keep rounding errors from growing layer by layer.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
INPUT_CHANNELS = 3
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000
ALPHA = 1.0

SMOKE = {"BATCH_SIZE": 2, "HEIGHT": 193, "WIDTH": 201, "NUM_CLASSES": 211, "ALPHA": 0.125}
SHAPES = [
    {"BATCH_SIZE": 2, "HEIGHT": 223, "WIDTH": 195, "NUM_CLASSES": 77, "ALPHA": 0.5},
    {"BATCH_SIZE": 3, "HEIGHT": 224, "WIDTH": 320, "NUM_CLASSES": 1000, "ALPHA": 0.75},
]


def convolution(in_channels: int, out_channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


def separable_convolution(in_channels: int, out_channels: int, stride: int) -> nn.Sequential:
    depthwise = nn.Conv2d(
        in_channels, in_channels, 3, stride=stride, padding=1, groups=in_channels, bias=False
    )
    return nn.Sequential(
        depthwise,
        nn.BatchNorm2d(in_channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


class Model(nn.Module):
    def __init__(
        self, num_classes: int = 1000, input_channels: int = 3, alpha: float = 1.0
    ) -> None:
        super().__init__()
        widths_and_strides = (
            (64, 1),
            (128, 2),
            (128, 1),
            (256, 2),
            (256, 1),
            (512, 2),
            *[(512, 1)] * 5,
            (1024, 2),
            (1024, 1),
        )
        channels = int(32 * alpha)
        layers: list[nn.Module] = [convolution(input_channels, channels, stride=2)]
        for full_width, stride in widths_and_strides:
            width = int(full_width * alpha)
            layers.append(separable_convolution(channels, width, stride))
            channels = width
        layers.append(nn.AvgPool2d(kernel_size=7))
        self.model = nn.Sequential(*layers)
        self.fc = nn.Linear(channels, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, mean=0.5, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(torch.flatten(self.model(x), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES, INPUT_CHANNELS, ALPHA]
