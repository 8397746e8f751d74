"""The product of two matrices."""

import torch
from torch import nn

M = 4096
K = 4096
N = 4096

SMOKE = {"M": 65, "K": 129, "N": 33}


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]


def get_init_inputs():
    return []
