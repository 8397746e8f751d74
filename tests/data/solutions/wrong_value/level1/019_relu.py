"""LeakyReLU: off by a hundredth of each negative input."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.maximum(x, 0.01 * x)
