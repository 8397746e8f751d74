"""A bias, then GELU in its tanh form, then a gate."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH = 8192
FEATURES = 8192

SMOKE = {"BATCH": 61, "FEATURES": 257}


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x, gate):
        return F.gelu(x + self.bias, approximate="tanh") * gate


def get_inputs():
    return [torch.randn(BATCH, FEATURES), torch.randn(BATCH, FEATURES)]


def get_init_inputs():
    return [FEATURES]
