"""Its constructor wants an argument that the problem does not give."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, slope: float) -> None:
        super().__init__()
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
