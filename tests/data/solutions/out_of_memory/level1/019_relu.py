"""Asks for twice as much each time until it is refused."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Nothing is written, so that the machine only promises this memory until it refuses.
        held = [
            torch.empty(1 << power, dtype=torch.uint8, device=x.device) for power in range(30, 60)
        ]
        return torch.relu(x) + len(held)
