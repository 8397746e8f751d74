"""Linear, scaling, residual sum, clamp, LogSumExp over the features, product with its Mish.

Changed: each row has its own scale, up to 4; at one common scale the clamp never binds and the
LogSumExp is nearly constant.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 1024
INPUT_SIZE = 8192
HIDDEN_SIZE = 8192
SCALE_FACTOR = 2.0
CLAMP_MIN = -10.0
CLAMP_MAX = 10.0

SMOKE = {"BATCH_SIZE": 259, "INPUT_SIZE": 131, "HIDDEN_SIZE": 97}
SHAPES = [
    {"BATCH_SIZE": 71, "INPUT_SIZE": 669, "HIDDEN_SIZE": 781},
    {"BATCH_SIZE": 128, "INPUT_SIZE": 2048, "HIDDEN_SIZE": 1024},
    {"BATCH_SIZE": 256, "INPUT_SIZE": 4096, "HIDDEN_SIZE": 4096},
]


class Model(nn.Module):
    """One number a row: v * mish(v) with v = logsumexp(clamp(2 * scale_factor * linear(x)))."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        scale_factor: float,
        clamp_min: float,
        clamp_max: float,
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(input_size, hidden_size)
        self.scale_factor = scale_factor
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.matmul(x) * self.scale_factor
        x = x + x
        x = torch.clamp(x, self.clamp_min, self.clamp_max)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


def get_inputs() -> list:
    row_scale = 4 * torch.rand(BATCH_SIZE, 1)
    return [row_scale * torch.randn(BATCH_SIZE, INPUT_SIZE)]


def get_init_inputs() -> list:
    return [INPUT_SIZE, HIDDEN_SIZE, SCALE_FACTOR, CLAMP_MIN, CLAMP_MAX]
