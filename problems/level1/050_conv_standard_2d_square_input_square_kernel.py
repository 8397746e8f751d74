"""2D convolution of square images with a square kernel: the first layer of AlexNet."""

import torch
from torch import nn

BATCH_SIZE = 256
HEIGHT = 224
WIDTH = 224
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 2, "HEIGHT": 67, "WIDTH": 67, "NUM_CLASSES": 7}
SHAPES = [
    {"BATCH_SIZE": 3, "HEIGHT": 133, "WIDTH": 133},
    {"BATCH_SIZE": 17, "HEIGHT": 227, "WIDTH": 227},
    {"BATCH_SIZE": 64},
]


class Model(nn.Module):
    """A Conv2d from 3 to 96 channels, with bias."""

    def __init__(self, num_classes: int = 1000) -> None:
        # num_classes belongs to the network around this layer, which itself has no use for it.
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_CLASSES]
