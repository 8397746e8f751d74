"""Kullback-Leibler divergence of predicted from target distributions.

Changed: predictions derive from the scores of the targets plus an error, whose size is drawn once a
call between 0.5 and 2, instead of being independent of them: other targets for the same predictions
used to go unnoticed at 1e-2.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 16384
FEATURES = 16384

SMOKE = {"BATCH_SIZE": 13, "FEATURES": 1021}
SHAPES = [
    {"BATCH_SIZE": 256, "FEATURES": 1024},
    {"BATCH_SIZE": 129, "FEATURES": 5003},
    {"BATCH_SIZE": 4096, "FEATURES": 16384},
]
DTYPES = ("fp32", "bf16")  # the smallest probabilities are zero in float16
FAMILIES = ()  # every row must stay a distribution


class Model(nn.Module):
    """The sum of t (log t - log p), divided by the batch size."""

    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.kl_div(torch.log(predictions), targets, reduction="batchmean")


def get_inputs() -> list:
    # Predictions are targets gone astray, by one amount for the whole draw.
    error_size = 0.5 + 1.5 * torch.rand(())
    scores = torch.randn(BATCH_SIZE, FEATURES)
    targets = torch.softmax(scores, dim=-1)
    scores.add_(torch.randn(BATCH_SIZE, FEATURES).mul_(error_size))
    return [torch.softmax(scores, dim=-1), targets]


def get_init_inputs() -> list:
    return []
