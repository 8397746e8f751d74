"""Triplet margin loss with Euclidean distances.

Changed: positives and negatives lie around their anchors at distances from 0 to 4, those of the
positives with a factor drawn once a call. Both drawn alike from [0, 1) gave a loss of 1.0 for all
inputs, so that one constant passed at 1e-2, and the clamp at zero never mattered.
"""

import torch
from torch import nn

BATCH_SIZE = 32768
FEATURES = 8192
MARGIN = 1.0

SMOKE = {"BATCH_SIZE": 129, "FEATURES": 203}
SHAPES = [
    {"BATCH_SIZE": 256, "FEATURES": 512},
    {"BATCH_SIZE": 515, "FEATURES": 1021},
    {"BATCH_SIZE": 8192, "FEATURES": 8192},
]


class Model(nn.Module):
    """The mean over the batch of max(|anchor - positive| - |anchor - negative| + margin, 0)."""

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.loss_fn = nn.TripletMarginLoss(margin=margin)

    def forward(
        self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor
    ) -> torch.Tensor:
        return self.loss_fn(anchor, positive, negative)


def get_inputs() -> list:
    # Distances from the anchors lie between 0 and 4, so that they differ by more than the margin
    # both ways. The factor common to all positives moves the mean between draws.
    unit = FEATURES**-0.5
    common = 4 * torch.rand(())
    anchor = torch.randn(BATCH_SIZE, FEATURES).mul_(2 * unit)
    positive = torch.randn(BATCH_SIZE, FEATURES).mul_(unit * common * torch.rand(BATCH_SIZE, 1))
    negative = torch.randn(BATCH_SIZE, FEATURES).mul_(unit * 4 * torch.rand(BATCH_SIZE, 1))
    return [anchor, positive.add_(anchor), negative.add_(anchor)]


def get_init_inputs() -> list:
    return [MARGIN]
