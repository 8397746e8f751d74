"""Hinge loss of scores against targets of plus or minus one.

Changed: scores are normal around a multiple of their targets, drawn once a call between 0 and 2,
instead of uniform on [0, 1). Then the clamp never mattered and the loss was 1.00 for all inputs, so
that one constant passed at 1e-2.
"""

import torch
from torch import nn

BATCH_SIZE = 32768
FEATURES = 32768

SMOKE = {"BATCH_SIZE": 131, "FEATURES": 131}
SHAPES = [
    {"BATCH_SIZE": 512, "FEATURES": 512},
    {"BATCH_SIZE": 1029, "FEATURES": 1029},
    {"BATCH_SIZE": 16384, "FEATURES": 16384},
]
FAMILIES = ("negated", "mixed")  # targets must stay plus or minus one


class Model(nn.Module):
    """The mean of max(1 - predictions * targets, 0); targets broadcast along the last axis."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return torch.mean(torch.clamp(1 - predictions * targets, min=0))


def get_inputs() -> list:
    # The scores lean towards their targets, as in a trained classifier, by one amount for the whole
    # draw; broadcasting needs BATCH_SIZE targets for FEATURES columns, so both are the same number.
    lean = 2 * torch.rand(())
    targets = torch.randint(0, 2, (BATCH_SIZE,)).float() * 2 - 1
    predictions = torch.randn(BATCH_SIZE, FEATURES).add_(lean * targets)
    return [predictions, targets]


def get_init_inputs() -> list:
    return []
