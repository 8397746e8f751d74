"""Wrong in every second call only, as a race may be."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        self.calls += 1
        if self.calls % 2 == 0:
            y[-1, -1] += 1
        return y
