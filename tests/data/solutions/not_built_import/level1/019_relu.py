"""Imports a name that torch does not have."""

import torch
from torch import nn
from torch import no_such_kernel


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return no_such_kernel(x)
