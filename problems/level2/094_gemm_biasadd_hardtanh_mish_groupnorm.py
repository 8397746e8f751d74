"""Linear, bias, Hardtanh, Mish, GroupNorm.

Changed: weight and bias of the GroupNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
NUM_GROUPS = 256

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 132, "NUM_GROUPS": 12}
SHAPES = [
    {"BATCH_SIZE": 95, "IN_FEATURES": 573, "OUT_FEATURES": 204, "NUM_GROUPS": 12},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024, "NUM_GROUPS": 32},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """group_norm(mish(hardtanh(linear(x) + bias)))."""

    def __init__(
        self, in_features: int, out_features: int, bias_shape: tuple[int, ...], num_groups: int
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.hardtanh = nn.Hardtanh()
        self.mish = nn.Mish()
        self.groupnorm = nn.GroupNorm(num_groups=num_groups, num_channels=out_features)
        nn.init.uniform_(self.groupnorm.weight, 0.5, 1.5)
        nn.init.normal_(self.groupnorm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.groupnorm(self.mish(self.hardtanh(self.gemm(x) + self.bias)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES)]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,), NUM_GROUPS]
