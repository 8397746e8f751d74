"""Linear, GroupNorm, minimum over the features, bias.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
NUM_GROUPS = 512

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 120, "NUM_GROUPS": 24}
SHAPES = [
    {"BATCH_SIZE": 82, "IN_FEATURES": 740, "OUT_FEATURES": 108, "NUM_GROUPS": 12},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 512, "NUM_GROUPS": 32},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """min(group_norm(linear(x)), over features) + bias.

    (batch, 1) against (1, features, 1, 1) gives (1, features, batch, 1).
    """

    def __init__(
        self, in_features: int, out_features: int, num_groups: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.group_norm(self.gemm(x))
        return torch.min(x, dim=1, keepdim=True).values + self.bias


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES)]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, NUM_GROUPS, (1, OUT_FEATURES, 1, 1)]
