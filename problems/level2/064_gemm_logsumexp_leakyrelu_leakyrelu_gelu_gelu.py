"""Linear, LogSumExp over the features, LeakyReLU twice, GELU twice.

Changed: each row has its own scale and the bias lies around -1 - log(out_features), so that the
LogSumExp falls on both sides of 0; it was 9.07 for every input and all four activations the
identity.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 259, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 65, "IN_FEATURES": 663, "OUT_FEATURES": 909},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """One number a row: gelu(gelu(leaky_relu(leaky_relu(logsumexp(linear(x))))))."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        nn.init.normal_(self.linear.bias, mean=-1 - math.log(out_features), std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.logsumexp(self.linear(x), dim=1, keepdim=True)
        x = F.leaky_relu(x, negative_slope=0.01)
        x = F.leaky_relu(x, negative_slope=0.01)
        return F.gelu(F.gelu(x))


def get_inputs() -> list:
    row_scale = 5 * torch.rand(BATCH_SIZE, 1)
    return [row_scale * torch.randn(BATCH_SIZE, IN_FEATURES)]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES]
