"""Linear, subtraction, mean over the features, LogSumExp of one element, GELU, residual sum.

Changed: the weight is drawn from [0, 2 / sqrt(in_features)), so that the mean over the features
does not vanish; the output was the input to within 0.3 %.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 2048
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 94, "IN_FEATURES": 572, "OUT_FEATURES": 893},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 512, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """x + gelu(logsumexp(mean(linear(x) - subtract, over features))).

    One number a row is added to the whole row.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=bias)
        nn.init.uniform_(self.gemm.weight, 0.0, 2 / math.sqrt(in_features))
        self.subtract = nn.Parameter(torch.randn(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        original = x.clone().detach()
        x = self.gemm(x) - self.subtract
        x = torch.mean(x, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return F.gelu(x) + original


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES]
