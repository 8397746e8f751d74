"""ConvTranspose3d, LayerNorm over the width, GELU, scaling.

Changed: the scaling factor is 2 instead of 1, and the LayerNorm's weight and bias are drawn at
random; both steps were identities.
"""

import torch
import torch.nn.functional as F
from torch import nn

BATCH_SIZE = 32
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = 4
STRIDE = 2
PADDING = 1
BIAS = True
EPS = 1e-5
SCALING_FACTOR = 2.0

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 12, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 6}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 19, "OUT_CHANNELS": 34, "DEPTH": 7, "HEIGHT": 13, "WIDTH": 17},
    {"BATCH_SIZE": 4, "OUT_CHANNELS": 48, "DEPTH": 12, "HEIGHT": 24, "WIDTH": 24},
    {"BATCH_SIZE": 8},
]


class Model(nn.Module):
    """gelu(layer_norm(conv_transpose(x))) * scaling_factor.

    The output width must equal out_channels.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        bias: bool = True,
        eps: float = 1e-5,
        scaling_factor: float = 1.0,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, bias=bias
        )
        self.layer_norm = nn.LayerNorm(out_channels, eps=eps)
        nn.init.uniform_(self.layer_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.layer_norm.bias, std=0.5)
        self.scaling_factor = scaling_factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.layer_norm(self.conv_transpose(x))) * self.scaling_factor


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 4]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL_SIZE, STRIDE, PADDING, BIAS, EPS, SCALING_FACTOR]
