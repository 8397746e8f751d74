"""Cross entropy that reads the scores once and writes one number a row.

The mean is taken by one program in a fixed order, so that the same inputs give the same bits.
"""

import torch
import triton
import triton.language as tl
from torch import nn

IGNORED = tl.constexpr(-100)  # what cross_entropy leaves out by default


@triton.jit
def row_losses_kernel(x_ptr, target_ptr, loss_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -3.4028234e38, dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, cols, BLOCK):
        i = first + lane
        v = tl.load(x_ptr + row * cols + i, mask=i < cols, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, v)
        total = total * tl.exp(top - higher) + tl.exp(v - higher)
        top = higher
    row_top = tl.max(top, axis=0)
    log_sum = tl.log(tl.sum(total * tl.exp(top - row_top), axis=0)) + row_top
    target = tl.load(target_ptr + row)
    counted = target != IGNORED
    score = tl.load(x_ptr + row * cols + target, mask=counted, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row, tl.where(counted, log_sum - score, 0.0))


@triton.jit
def mean_kernel(loss_ptr, target_ptr, mean_ptr, rows, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    count = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, rows, BLOCK):
        i = first + lane
        total += tl.load(loss_ptr + i, mask=i < rows, other=0.0)
        target = tl.load(target_ptr + i, mask=i < rows, other=IGNORED)
        count += tl.where(target != IGNORED, 1.0, 0.0)
    mean = tl.sum(total, axis=0) / tl.sum(count, axis=0)
    tl.store(mean_ptr, mean.to(mean_ptr.dtype.element_ty))


class ModelNew(nn.Module):
    def forward(self, predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        predictions, targets = predictions.contiguous(), targets.contiguous()
        rows, cols = predictions.shape
        losses = torch.empty(rows, device=predictions.device, dtype=torch.float32)
        mean = predictions.new_empty(())
        block = min(triton.next_power_of_2(cols), 4096)
        row_losses_kernel[(rows,)](predictions, targets, losses, cols, BLOCK=block, num_warps=4)
        block = min(triton.next_power_of_2(rows), 8192)
        mean_kernel[(1,)](losses, targets, mean, rows, BLOCK=block, num_warps=16)
        return mean
