"""Cross entropy of class scores against class numbers.

Changed: the scores of the targets are lifted by an amount drawn once a call between 1 and 3.
Without it the loss was 8.36 for all inputs and all targets, so that one constant passed at 1e-2.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 32768
NUM_CLASSES = 4096

SMOKE = {"BATCH_SIZE": 131, "NUM_CLASSES": 67}
SHAPES = [
    {"BATCH_SIZE": 512, "NUM_CLASSES": 1000},
    {"BATCH_SIZE": 1029, "NUM_CLASSES": 515},
    {"BATCH_SIZE": 8192, "NUM_CLASSES": 4096},
]


class Model(nn.Module):
    """The mean over the batch of log(sum exp(scores)) minus the score of the target."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(predictions, targets)


def get_inputs() -> list:
    # The scores of the targets are lifted, as in a trained classifier, by one amount for the whole
    # draw.
    lift = 1 + 2 * torch.rand(())
    targets = torch.randint(0, NUM_CLASSES, (BATCH_SIZE,))
    predictions = torch.randn(BATCH_SIZE, NUM_CLASSES)
    predictions.scatter_add_(1, targets.unsqueeze(1), lift.expand(BATCH_SIZE, 1))
    return [predictions, targets]


def get_init_inputs() -> list:
    return []
