"""Linear without bias, a learnable bias, ReLU."""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 89, "IN_FEATURES": 747, "OUT_FEATURES": 981},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """relu(linear(x) + bias)."""

    def __init__(self, in_features: int, out_features: int, bias_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.gemm(x) + self.bias)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,)]
