"""Linear, GroupNorm, LeakyReLU, sum with itself.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
INPUT_SIZE = 8192
HIDDEN_SIZE = 8192
NUM_GROUPS = 512

SMOKE = {"BATCH_SIZE": 13, "INPUT_SIZE": 131, "HIDDEN_SIZE": 120, "NUM_GROUPS": 24}
SHAPES = [
    {"BATCH_SIZE": 51, "INPUT_SIZE": 649, "HIDDEN_SIZE": 108, "NUM_GROUPS": 12},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "HIDDEN_SIZE": 512, "NUM_GROUPS": 32},
    {"BATCH_SIZE": 256, "INPUT_SIZE": 4096, "HIDDEN_SIZE": 4096},
]


class Model(nn.Module):
    """2 * leaky_relu(group_norm(linear(x))), written as a sum."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_groups: int,
        eps: float = 1e-5,
        negative_slope: float = 0.01,
    ) -> None:
        super().__init__()
        self.fc = nn.Linear(input_size, hidden_size)
        self.gn = nn.GroupNorm(num_groups=num_groups, num_channels=hidden_size, eps=eps)
        nn.init.uniform_(self.gn.weight, 0.5, 1.5)
        nn.init.normal_(self.gn.bias, std=0.5)
        self.leaky_relu = nn.LeakyReLU(negative_slope=negative_slope)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.leaky_relu(self.gn(self.fc(x)))
        return x + x


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, NUM_GROUPS]
