"""Linear, BatchNorm1d in training mode, learnable scale, softmax over the features.

Changed: the scale is drawn from [2, 3) instead of 1, so that the softmax over 8192 features has
peaks (all values were near 1e-4), and the BatchNorm's weight and bias are drawn at random.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192
BN_EPS = 1e-5
BN_MOMENTUM = 0.1
SCALE_SHAPE = (1,)

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 85, "IN_FEATURES": 803, "OUT_FEATURES": 781},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """softmax(scale * batch_norm(linear(x)))."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bn_eps: float = 1e-5,
        bn_momentum: float = 0.1,
        scale_shape: tuple[int, ...] = (1,),
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias, std=0.5)
        self.scale = nn.Parameter(torch.rand(scale_shape) + 2)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.softmax(self.scale * self.bn(self.gemm(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, BN_EPS, BN_MOMENTUM, SCALE_SHAPE]
