"""Fire module: a 1x1 squeeze, then 1x1 and 3x3 expansions side by side, all with ReLU."""

import torch
import torch.nn as nn

BATCH_SIZE = 128
NUM_INPUT_FEATURES = 3
SQUEEZE_CHANNELS = 6
EXPAND1X1_CHANNELS = 64
EXPAND3X3_CHANNELS = 64
HEIGHT = 256
WIDTH = 256

SMOKE = {
    "BATCH_SIZE": 2,
    "SQUEEZE_CHANNELS": 5,
    "EXPAND1X1_CHANNELS": 10,
    "EXPAND3X3_CHANNELS": 14,
    "HEIGHT": 19,
    "WIDTH": 23,
}
SHAPES = [
    {"BATCH_SIZE": 3, "NUM_INPUT_FEATURES": 33, "SQUEEZE_CHANNELS": 16, "HEIGHT": 57, "WIDTH": 91},
    {"BATCH_SIZE": 16, "HEIGHT": 192, "WIDTH": 160},
]


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        squeeze_channels: int,
        expand1x1_channels: int,
        expand3x3_channels: int,
    ) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand1x1_channels, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand3x3_channels, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        narrow = self.expand1x1_activation(self.expand1x1(x))
        wide = self.expand3x3_activation(self.expand3x3(x))
        return torch.cat([narrow, wide], dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, NUM_INPUT_FEATURES, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [NUM_INPUT_FEATURES, SQUEEZE_CHANNELS, EXPAND1X1_CHANNELS, EXPAND3X3_CHANNELS]
