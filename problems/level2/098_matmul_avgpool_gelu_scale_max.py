"""Linear, AvgPool1d over the features, GELU, scaling, maximum."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
POOL_KERNEL_SIZE = 16
SCALE_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 259, "IN_FEATURES": 131, "OUT_FEATURES": 149}
SHAPES = [
    {"BATCH_SIZE": 63, "IN_FEATURES": 601, "OUT_FEATURES": 989},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """One number a row: max(gelu(avg_pool(linear(x))) * scale_factor)."""

    def __init__(
        self, in_features: int, out_features: int, pool_kernel_size: int, scale_factor: float
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.avg_pool = nn.AvgPool1d(kernel_size=pool_kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.avg_pool(self.matmul(x).unsqueeze(1)).squeeze(1)
        x = F.gelu(x) * self.scale_factor
        return torch.max(x, dim=1).values


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 4]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, POOL_KERNEL_SIZE, SCALE_FACTOR]
