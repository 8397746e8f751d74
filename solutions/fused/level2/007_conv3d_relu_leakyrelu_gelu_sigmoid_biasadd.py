"""The library's convolution, then everything after it in one pass, in place.

Eager takes six passes over the convolution's output. LeakyReLU behind ReLU changes nothing.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn


@triton.jit
def finish_kernel(y_ptr, inner_ptr, outer_ptr, channels, pixels, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    channel = plane % channels
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = y_ptr + plane.to(tl.int64) * pixels + i
    inner = tl.load(inner_ptr + channel).to(tl.float32)
    outer = tl.load(outer_ptr + channel).to(tl.float32)
    v = tl.load(at, mask=i < pixels, other=0.0).to(tl.float32) + inner
    v = tl.where(v < 0, 0.0, v)
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    v = 1.0 / (1.0 + tl.exp(-v)) + outer
    tl.store(at, v.to(y_ptr.dtype.element_ty), mask=i < pixels)


class ModelNew(nn.Module):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.conv3d(x, self.conv.weight).contiguous()
        batch, channels = y.shape[:2]
        pixels = y[0, 0].numel()
        grid = (batch * channels, triton.cdiv(pixels, 4096))
        finish_kernel[grid](y, self.conv.bias, self.bias, channels, pixels, BLOCK=4096, num_warps=8)
        return y
