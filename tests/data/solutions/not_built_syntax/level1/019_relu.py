"""Lacks a colon."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor)
        return torch.relu(x)
