"""Linear, swish, bias, GroupNorm.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 32768
IN_FEATURES = 1024
OUT_FEATURES = 4096
NUM_GROUPS = 64

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 67, "OUT_FEATURES": 108, "NUM_GROUPS": 12}
SHAPES = [
    {"BATCH_SIZE": 77, "IN_FEATURES": 515, "OUT_FEATURES": 996, "NUM_GROUPS": 12},
    {"BATCH_SIZE": 2048, "OUT_FEATURES": 1024, "NUM_GROUPS": 32},
    {"BATCH_SIZE": 8192},
]


class Model(nn.Module):
    """group_norm(swish(linear(x)) + bias)."""

    def __init__(
        self, in_features: int, out_features: int, num_groups: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x)
        x = torch.sigmoid(x) * x
        return self.group_norm(x + self.bias)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, NUM_GROUPS, (OUT_FEATURES,)]
