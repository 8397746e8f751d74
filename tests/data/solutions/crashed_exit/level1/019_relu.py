"""Leaves with exit status 0, which must not look like success."""

import os

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        os._exit(0)
