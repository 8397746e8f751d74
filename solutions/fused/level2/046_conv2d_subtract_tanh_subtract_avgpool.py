"""The library's convolution, then bias, tanh and pooling in one pass.

tanh(v) = 1 - 2 / (1 + e^(2 v)), and the subtracted constants leave the mean together.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn


@triton.jit
def finish_kernel(
    y_ptr,
    bias_ptr,
    out_ptr,
    channels,
    height,
    width,
    out_height,
    out_width,
    first,
    second,
    POOL: tl.constexpr,
    BLOCK: tl.constexpr,
):
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = i < out_height * out_width
    corner = (i // out_width) * POOL * width + (i % out_width) * POOL
    at = y_ptr + plane.to(tl.int64) * height * width + corner
    bias = tl.load(bias_ptr + plane % channels).to(tl.float32) - first
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for dy in tl.static_range(POOL):
        for dx in tl.static_range(POOL):
            v = tl.load(at + dy * width + dx, mask=inside, other=0.0).to(tl.float32) + bias
            total += 1.0 - 2.0 / (1.0 + tl.exp(2.0 * v))
    mean = total / (POOL * POOL) - second
    out = out_ptr + plane.to(tl.int64) * out_height * out_width + i
    tl.store(out, mean.to(out_ptr.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        subtract1_value: float,
        subtract2_value: float,
        kernel_size_pool: int,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract1_value = subtract1_value
        self.subtract2_value = subtract2_value
        self.pool = kernel_size_pool

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.conv2d(x, self.conv.weight).contiguous()
        batch, channels, height, width = y.shape
        out = y.new_empty((batch, channels, height // self.pool, width // self.pool))
        grid = (batch * channels, triton.cdiv(out[0, 0].numel(), 1024))
        finish_kernel[grid](
            y,
            self.conv.bias,
            out,
            channels,
            height,
            width,
            out.shape[2],
            out.shape[3],
            self.subtract1_value,
            self.subtract2_value,
            POOL=self.pool,
            BLOCK=1024,
            num_warps=4,
        )
        return out
