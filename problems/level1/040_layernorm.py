"""Layer normalisation over channels, height and width together.

Changed: weight and bias are drawn at random instead of being ones and zeros, so that leaving them
out shows; each sample has a mean and a deviation of its own.
"""

import torch
from torch import nn

BATCH_SIZE = 16
FEATURES = 64
HEIGHT = 256
WIDTH = 256

SMOKE = {"BATCH_SIZE": 3, "FEATURES": 5, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 8, "FEATURES": 32, "HEIGHT": 32, "WIDTH": 32},
    {"BATCH_SIZE": 5, "FEATURES": 24, "HEIGHT": 67, "WIDTH": 101},
    {"BATCH_SIZE": 4},
]


class Model(nn.Module):
    """LayerNorm with one weight and one bias for each entry of a sample."""

    def __init__(self, normalized_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        nn.init.uniform_(self.ln.weight, 0.5, 1.5)
        nn.init.normal_(self.ln.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x)


def get_inputs() -> list:
    x = torch.randn(BATCH_SIZE, FEATURES, HEIGHT, WIDTH)
    x.mul_(0.5 + 1.5 * torch.rand(BATCH_SIZE, 1, 1, 1))
    return [x.add_(torch.randn(BATCH_SIZE, 1, 1, 1))]


def get_init_inputs() -> list:
    return [(FEATURES, HEIGHT, WIDTH)]
