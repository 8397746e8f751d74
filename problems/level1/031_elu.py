"""ELU."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 4096
DIM = 393216
ALPHA = 1.0

SMOKE = {"BATCH_SIZE": 37, "DIM": 3001}
SHAPES = [
    {"BATCH_SIZE": 128, "DIM": 4096},
    {"BATCH_SIZE": 515, "DIM": 10007},
    {"BATCH_SIZE": 1024, "DIM": 393216},
]


class Model(nn.Module):
    """x where x is positive, alpha * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.elu(x, alpha=self.alpha)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, DIM).mul_(2)]


def get_init_inputs() -> list:
    return [ALPHA]
