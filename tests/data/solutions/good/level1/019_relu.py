"""Right: what stands among the failures must not suffer from them."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x < 0, 0, x)
