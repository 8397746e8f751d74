"""ConvTranspose3d, scalar sum, LayerNorm over the width, AvgPool3d, GELU.

Changed: weight and bias of the LayerNorm are drawn at random; at ones and zeros a kernel could
leave them out.
"""

import torch
from torch import nn

BATCH_SIZE = 32
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 16
HEIGHT = 32
WIDTH = 32
KERNEL_SIZE = (3, 3, 3)
STRIDE = (2, 2, 2)
PADDING = (1, 1, 1)
OUTPUT_PADDING = (1, 1, 1)
SUM_WEIGHT = 1.0
POOL_KERNEL_SIZE = (2, 2, 2)

SMOKE = {"BATCH_SIZE": 2, "IN_CHANNELS": 5, "OUT_CHANNELS": 12, "DEPTH": 5, "HEIGHT": 7, "WIDTH": 6}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 19, "OUT_CHANNELS": 34, "DEPTH": 7, "HEIGHT": 13, "WIDTH": 17},
    {"BATCH_SIZE": 4, "OUT_CHANNELS": 48, "DEPTH": 12, "HEIGHT": 24, "WIDTH": 24},
    {"BATCH_SIZE": 8},
]


class Model(nn.Module):
    """gelu(avg_pool(layer_norm(conv_transpose(x) + sum_weight))).

    The output width must equal norm_shape.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        output_padding: tuple[int, ...],
        sum_weight: float,
        norm_shape: tuple[int, ...],
        pool_kernel_size: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
        )
        self.sum_weight = nn.Parameter(torch.tensor(sum_weight))
        self.norm = nn.LayerNorm(norm_shape)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.5)
        self.avg_pool = nn.AvgPool3d(kernel_size=pool_kernel_size)
        self.gelu = nn.GELU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_transpose(x) + self.sum_weight
        return self.gelu(self.avg_pool(self.norm(x)))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, DEPTH, HEIGHT, WIDTH) * 4]


def get_init_inputs() -> list:
    return [
        IN_CHANNELS,
        OUT_CHANNELS,
        KERNEL_SIZE,
        STRIDE,
        PADDING,
        OUTPUT_PADDING,
        SUM_WEIGHT,
        (OUT_CHANNELS,),
        POOL_KERNEL_SIZE,
    ]
