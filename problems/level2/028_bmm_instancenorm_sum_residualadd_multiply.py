"""Linear, InstanceNorm over each row, sum with and product by a second input."""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 13, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 53, "IN_FEATURES": 711, "OUT_FEATURES": 941},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """(instance_norm(linear(x)) + y) * y; the norm standardises each row."""

    def __init__(
        self, in_features: int, out_features: int, eps: float = 1e-5, momentum: float = 0.1
    ) -> None:
        super().__init__()
        self.bmm = nn.Linear(in_features, out_features)
        # Each row is one channel of 1 x out_features values.
        self.instance_norm = nn.InstanceNorm2d(1, eps=eps, momentum=momentum)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = self.bmm(x)
        x = self.instance_norm(x.unsqueeze(1).unsqueeze(1)).squeeze(1).squeeze(1)
        x = x + y
        return x * y


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES), torch.randn(BATCH_SIZE, OUT_FEATURES)]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES]
