"""Linear, BatchNorm1d in training mode, GELU, ReLU.

Changed: weight and bias of the BatchNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 16384
IN_FEATURES = 4096
OUT_FEATURES = 4096

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 84, "IN_FEATURES": 802, "OUT_FEATURES": 957},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 4096, "IN_FEATURES": 2048, "OUT_FEATURES": 2048},
]


class Model(nn.Module):
    """relu(gelu(batch_norm(linear(x))))."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.batch_norm = nn.BatchNorm1d(out_features)
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.gelu(self.batch_norm(self.gemm(x))))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES]
