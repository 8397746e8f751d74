"""MobileNet v2 without residual additions: seventeen inverted bottlenecks, ReLU6, batch norm.

Changed: scales and shifts of the batch norms and the classifier's bias are drawn at random; ones
and zeros would let a kernel leave them out. Shifts around 0.5 keep rounding errors from growing
layer by layer.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 3, "HEIGHT": 65, "WIDTH": 81, "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 4, "HEIGHT": 111, "WIDTH": 143, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 3, "HEIGHT": 224, "WIDTH": 192, "NUM_CLASSES": 1000},
]
DTYPES = ("fp32", "fp16")


def inverted_bottleneck(
    in_channels: int, out_channels: int, stride: int, expand_ratio: int
) -> nn.Sequential:
    width = in_channels * expand_ratio
    layers: list[nn.Module] = []
    if expand_ratio != 1:
        layers += [
            nn.Conv2d(in_channels, width, kernel_size=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU6(inplace=True),
        ]
    layers += [
        nn.Conv2d(width, width, 3, stride=stride, padding=1, groups=width, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU6(inplace=True),
        nn.Conv2d(width, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    ]
    return nn.Sequential(*layers)


class Model(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        # Expansion, output channels, repeats, stride of the first repeat.
        stages = (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        )
        channels = 32
        layers: list[nn.Module] = [
            nn.Conv2d(3, channels, kernel_size=3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU6(inplace=True),
        ]
        for expand_ratio, width, repeats, first_stride in stages:
            for i in range(repeats):
                stride = first_stride if i == 0 else 1
                layers.append(inverted_bottleneck(channels, width, stride, expand_ratio))
                channels = width
        layers += [
            nn.Conv2d(channels, 1280, kernel_size=1, bias=False),
            nn.BatchNorm2d(1280),
            nn.ReLU6(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
        ]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(p=0.0), nn.Linear(1280, num_classes))
        self._draw_weights()

    def _draw_weights(self) -> None:
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out")
            elif isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, mean=0.5, std=0.2)
            elif isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=0.01)
                nn.init.normal_(layer.bias, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
