"""Linear, scaling, Hardtanh, GELU.

Changed: inputs of standard deviation 6, so that the Hardtanh binds in a quarter of the places; it
never did.
"""

import torch
from torch import nn

BATCH_SIZE = 2048
IN_FEATURES = 8192
OUT_FEATURES = 8192
SCALING_FACTOR = 0.5
HARDTANH_MIN = -2
HARDTANH_MAX = 2

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 48, "IN_FEATURES": 586, "OUT_FEATURES": 781},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 512, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """gelu(hardtanh(linear(x) * scaling_factor))."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        scaling_factor: float,
        hardtanh_min: float,
        hardtanh_max: float,
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)
        self.gelu = nn.GELU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gelu(self.hardtanh(self.gemm(x) * self.scaling_factor))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 6]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, SCALING_FACTOR, HARDTANH_MIN, HARDTANH_MAX]
