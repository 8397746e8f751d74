"""Attention over all positions: softmax(q k^T / sqrt(d)) v."""

import math

import torch
from torch import nn

BATCH = 8
HEADS = 16
LENGTH = 1024
DIM = 64

SMOKE = {"BATCH": 2, "HEADS": 3, "LENGTH": 77}


class Model(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(scores, dim=-1) @ v


def get_inputs():
    return [torch.randn(BATCH, HEADS, LENGTH, DIM) for _ in range(3)]


def get_init_inputs():
    return []
