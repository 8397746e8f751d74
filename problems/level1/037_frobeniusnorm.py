"""Division of a whole tensor by its Frobenius norm.

Changed: entries are fifth powers of normal numbers instead of uniform on [0, 1). The norm runs over
1.9e9 entries, so uniform ones gave outputs below 4e-5 and zeros passed at 1e-4; now about one
output in a hundred lies above 1e-4 and the largest near 6e-3.
"""

import torch
from torch import nn

BATCH_SIZE = 112
FEATURES = 64
HEIGHT = 512
WIDTH = 512

SMOKE = {"BATCH_SIZE": 5, "FEATURES": 13, "HEIGHT": 19, "WIDTH": 23}
SHAPES = [
    {"BATCH_SIZE": 8, "FEATURES": 32, "HEIGHT": 64, "WIDTH": 64},
    {"BATCH_SIZE": 5, "FEATURES": 48, "HEIGHT": 131, "WIDTH": 197},
    {"BATCH_SIZE": 28},
]


class Model(nn.Module):
    """x divided by the root of the sum of all its squares."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.linalg.vector_norm(x)


def get_inputs() -> list:
    # The mean square stays near 1, so that the norm of 1.9e9 entries fits into float16.
    return [torch.randn(BATCH_SIZE, FEATURES, HEIGHT, WIDTH).pow_(5).div_(30)]


def get_init_inputs() -> list:
    return []
