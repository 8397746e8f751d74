"""ConvTranspose2d, BatchNorm2d in training mode, tanh, MaxPool2d, GroupNorm.

Changed: weights and biases of both norms are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 512
IN_CHANNELS = 64
OUT_CHANNELS = 128
KERNEL_SIZE = 5
STRIDE = 1
PADDING = 1
GROUPS = 8
NUM_GROUPS = 8
HEIGHT = 32
WIDTH = 32

SMOKE = {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "OUT_CHANNELS": 24, "HEIGHT": 19, "WIDTH": 17}
SHAPES = [
    {"BATCH_SIZE": 4, "IN_CHANNELS": 49, "HEIGHT": 15, "WIDTH": 15},
    {"BATCH_SIZE": 64, "HEIGHT": 16, "WIDTH": 16},
    {"BATCH_SIZE": 128},
]


class Model(nn.Module):
    """group_norm(max_pool(tanh(batch_norm(conv_transpose(x))))).

    `groups` is accepted and not used.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        groups: int,
        num_groups: int,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        )
        self.batch_norm = nn.BatchNorm2d(out_channels)
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.5)
        self.tanh = nn.Tanh()
        self.max_pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.group_norm = nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.tanh(self.batch_norm(self.conv_transpose(x)))
        return self.group_norm(self.max_pool(x))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, GROUPS, NUM_GROUPS]
