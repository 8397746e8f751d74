"""Leaves by SystemExit with status 0, which must not look like success."""

import sys

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sys.exit(0)
