"""DenseNet-121 without bottlenecks: four dense blocks with transition layers between them.

Changed: scales and shifts of the batch norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
HEIGHT = 224
WIDTH = 224
GROWTH_RATE = 32
NUM_CLASSES = 10

SMOKE = {"BATCH_SIZE": 3, "HEIGHT": 71, "WIDTH": 67, "GROWTH_RATE": 6, "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 3, "HEIGHT": 131, "WIDTH": 99, "NUM_CLASSES": 77},
    {"BATCH_SIZE": 4, "HEIGHT": 192, "WIDTH": 160, "NUM_CLASSES": 1000},
]


class DenseBlock(nn.Module):
    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            self._layer(num_input_features + i * growth_rate, growth_rate)
            for i in range(num_layers)
        )

    @staticmethod
    def _layer(in_features: int, growth_rate: int) -> nn.Sequential:
        return nn.Sequential(
            nn.BatchNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
            nn.Dropout(p=0.0),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, dim=1)))
        return torch.cat(features, dim=1)


class TransitionLayer(nn.Module):
    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.transition(x)


class Model(nn.Module):
    def __init__(self, growth_rate: int = 32, num_classes: int = 1000) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.dense_blocks = nn.ModuleList()
        self.transition_layers = nn.ModuleList()
        block_depths = (6, 12, 24, 16)
        width = 64
        for i, depth in enumerate(block_depths):
            self.dense_blocks.append(DenseBlock(depth, width, growth_rate))
            width += depth * growth_rate
            if i + 1 < len(block_depths):
                self.transition_layers.append(TransitionLayer(width, width // 2))
                width //= 2
        self.final_bn = nn.BatchNorm2d(width)
        self.classifier = nn.Linear(width, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        for block, transition in zip(self.dense_blocks, self.transition_layers, strict=False):
            x = transition(block(x))
        x = self.dense_blocks[-1](x)
        x = F.relu(self.final_bn(x))
        return self.classifier(torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [GROWTH_RATE, NUM_CLASSES]
