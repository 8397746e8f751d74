"""The library's transposed convolution, then all that follows in one pass, in place.

With n = e^v (e^v + 2), mish(v) = v n / (n + 2): one exponential, and nothing cancels near zero.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn


@triton.jit
def finish_kernel(y_ptr, bias_ptr, channels, pixels, add_value, scale, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = y_ptr + plane.to(tl.int64) * pixels + i
    bias = tl.load(bias_ptr + plane % channels).to(tl.float32)
    v = tl.load(at, mask=i < pixels, other=0.0).to(tl.float32) + bias
    # From 20 on n / (n + 2) is 1 to the last bit, and a larger exponential would overflow.
    e = tl.exp(tl.where(v > 20.0, 20.0, v))
    n = e * (e + 2.0)
    v = v * n / (n + 2.0) + add_value
    v = tl.where(v < -1.0, -1.0, tl.where(v > 1.0, 1.0, v)) * scale
    tl.store(at, v.to(y_ptr.dtype.element_ty), mask=i < pixels)


class ModelNew(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int,
        padding: int,
        output_padding: int,
        add_value: float,
        scale: float,
    ) -> None:
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.add_value = float(add_value)
        self.scale = float(scale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        conv = self.conv_transpose
        y = F.conv_transpose2d(
            x, conv.weight, None, conv.stride, conv.padding, conv.output_padding
        ).contiguous()
        batch, channels, height, width = y.shape
        pixels = height * width
        grid = (batch * channels, triton.cdiv(pixels, 4096))
        finish_kernel[grid](
            y, conv.bias, channels, pixels, self.add_value, self.scale, BLOCK=4096, num_warps=8
        )
        return y
