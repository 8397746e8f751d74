"""Linear, addition of a vector, swish, tanh, GELU, Hardtanh."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 42, "IN_FEATURES": 580, "OUT_FEATURES": 909},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """hardtanh(gelu(tanh(swish(linear(x) + add_value))), -1, 1); the Hardtanh never binds."""

    def __init__(
        self, in_features: int, out_features: int, add_value_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.add_value = nn.Parameter(torch.randn(add_value_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x) + self.add_value
        x = torch.tanh(torch.sigmoid(x) * x)
        return F.hardtanh(F.gelu(x), min_val=-1, max_val=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,)]
