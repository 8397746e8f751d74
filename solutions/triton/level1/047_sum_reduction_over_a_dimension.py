"""Sum over any dimension of a tensor: (outer, reduced, inner), tiled over the inner places.

Where the reduced dimension is the last one, the tile is a single column, as long as the tile has
places.
"""

import math

import torch
import triton
import triton.language as tl
from torch import nn

TILE = 4096


@triton.jit
def sum_kernel(x_ptr, y_ptr, reduced, inner, ROWS: tl.constexpr, COLS: tl.constexpr):
    outer = tl.program_id(1).to(tl.int64)
    col = tl.program_id(0) * COLS + tl.arange(0, COLS)
    row = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for first in range(0, reduced, ROWS):
        r = first + row
        at = (outer * reduced + r[:, None]) * inner + col[None, :]
        mask = (r[:, None] < reduced) & (col[None, :] < inner)
        total += tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    sums = tl.sum(total, axis=0)
    tl.store(y_ptr + outer * inner + col, sums.to(y_ptr.dtype.element_ty), mask=col < inner)


class ModelNew(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        dim = self.dim % x.dim()
        before, reduced, after = x.shape[:dim], x.shape[dim], x.shape[dim + 1 :]
        outer, inner = math.prod(before), math.prod(after)
        y = x.new_empty((*before, 1, *after))
        cols = min(triton.next_power_of_2(inner), 128)
        rows = min(triton.next_power_of_2(reduced), TILE // cols)
        grid = (triton.cdiv(inner, cols), outer)
        sum_kernel[grid](x, y, reduced, inner, ROWS=rows, COLS=cols, num_warps=4)
        return y
