"""Linear, BatchNorm1d in training mode, bias, division, swish.

Changed: the division is by 2 instead of 1, and the BatchNorm's weight and bias are drawn at random;
both steps were identities.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
BN_EPS = 1e-5
BN_MOMENTUM = 0.1
BIAS_SHAPE = (1,)
DIVIDE_VALUE = 2.0

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 56, "IN_FEATURES": 594, "OUT_FEATURES": 797},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """swish((batch_norm(linear(x)) + bias) / divide_value)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bn_eps: float = 1e-5,
        bn_momentum: float = 0.1,
        bias_shape: tuple[int, ...] = (1,),
        divide_value: float = 1.0,
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias, std=0.5)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.divide_value = divide_value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = (self.bn(self.matmul(x)) + self.bias) / self.divide_value
        return x * torch.sigmoid(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, BN_EPS, BN_MOMENTUM, BIAS_SHAPE, DIVIDE_VALUE]
