"""Linear, GroupNorm, Hardtanh.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
NUM_GROUPS = 16
HARDTANH_MIN = -2.0
HARDTANH_MAX = 2.0

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 144}
SHAPES = [
    {"BATCH_SIZE": 67, "IN_FEATURES": 725, "OUT_FEATURES": 3084, "NUM_GROUPS": 12},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 16384, "NUM_GROUPS": 32},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """hardtanh(group_norm(linear(x)))."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        num_groups: int,
        hardtanh_min: float,
        hardtanh_max: float,
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.hardtanh(self.group_norm(self.gemm(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, NUM_GROUPS, HARDTANH_MIN, HARDTANH_MAX]
