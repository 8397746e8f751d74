"""LeNet-5: two 5x5 convolutions with ReLU and max pooling, then three linear layers.

Changed: the weights are drawn by Kaiming's rule for ReLU. Under PyTorch's default the convolutions
moved the output by less than a hundredth.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 4096
NUM_CLASSES = 20

SMOKE = {"BATCH_SIZE": 37, "NUM_CLASSES": 11}
SHAPES = [{"BATCH_SIZE": 1, "NUM_CLASSES": 300}, {"BATCH_SIZE": 777, "NUM_CLASSES": 10}]


class Model(nn.Module):
    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)
        for layer in self.children():
            nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), kernel_size=2)
        x = F.max_pool2d(F.relu(self.conv2(x)), kernel_size=2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 1, 32, 32)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
