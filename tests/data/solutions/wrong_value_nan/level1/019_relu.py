"""One NaN in the last place: it must not count as a match, nor hide among the numbers."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        y[-1, -1] = float("nan")
        return y
