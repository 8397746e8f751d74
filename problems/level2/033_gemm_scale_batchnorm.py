"""Linear, scaling by a vector, BatchNorm1d in training mode.

Changed: weight and bias of the BatchNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 1024
IN_FEATURES = 8192
OUT_FEATURES = 8192

SMOKE = {"BATCH_SIZE": 29, "IN_FEATURES": 131, "OUT_FEATURES": 97}
SHAPES = [
    {"BATCH_SIZE": 88, "IN_FEATURES": 746, "OUT_FEATURES": 909},
    {"BATCH_SIZE": 128, "IN_FEATURES": 2048, "OUT_FEATURES": 1024},
    {"BATCH_SIZE": 256, "IN_FEATURES": 4096, "OUT_FEATURES": 4096},
]


class Model(nn.Module):
    """batch_norm(linear(x) * scale).

    The batch statistics cancel the size of the scale and the linear bias.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        scale_shape: tuple[int, ...],
        eps: float = 1e-5,
        momentum: float = 0.1,
    ) -> None:
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.randn(scale_shape))
        self.bn = nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)
        nn.init.uniform_(self.bn.weight, 0.5, 1.5)
        nn.init.normal_(self.bn.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(self.gemm(x) * self.scale)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_FEATURES) * 2]


def get_init_inputs() -> list:
    return [IN_FEATURES, OUT_FEATURES, (OUT_FEATURES,)]
