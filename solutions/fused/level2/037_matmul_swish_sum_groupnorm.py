"""The library's matrix product, then both biases, swish and GroupNorm in one pass, in place.

A program holds one row, as (groups, members): all its statistics are sums along one axis of a
tile.
"""

import torch
import triton
import triton.language as tl
from torch import nn

TILE = 4096


@triton.jit
def finish_kernel(
    y_ptr,
    inner_ptr,
    outer_ptr,
    weight_ptr,
    shift_ptr,
    groups,
    members,
    eps,
    GROUPS: tl.constexpr,
    MEMBERS: tl.constexpr,
):
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    member = tl.arange(0, MEMBERS)
    col = group[:, None] * members + member[None, :]
    mask = (group[:, None] < groups) & (member[None, :] < members)
    at = y_ptr + tl.program_id(0).to(tl.int64) * groups * members + col
    v = tl.load(at, mask=mask, other=0.0).to(tl.float32)
    v += tl.load(inner_ptr + col, mask=mask, other=0.0).to(tl.float32)
    v = v / (1.0 + tl.exp(-v))
    v += tl.load(outer_ptr + col, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=1) / members
    v = tl.where(mask, v - mean[:, None], 0.0)
    deviation = tl.sqrt(tl.sum(v * v, axis=1) / members + eps)
    weight = tl.load(weight_ptr + col, mask=mask, other=0.0).to(tl.float32)
    shift = tl.load(shift_ptr + col, mask=mask, other=0.0).to(tl.float32)
    v = v / deviation[:, None] * weight + shift
    tl.store(at, v.to(y_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(
        self, in_features: int, out_features: int, num_groups: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        nn.init.uniform_(self.group_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.group_norm.bias, std=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.mm(x, self.matmul.weight.t())
        norm = self.group_norm
        groups, members = norm.num_groups, y.shape[1] // norm.num_groups
        wide = triton.next_power_of_2(members)
        high = max(1, min(triton.next_power_of_2(groups), TILE // wide))
        finish_kernel[(y.shape[0], triton.cdiv(groups, high))](
            y,
            self.matmul.bias,
            self.bias,
            norm.weight,
            norm.bias,
            groups,
            members,
            norm.eps,
            GROUPS=high,
            MEMBERS=wide,
            num_warps=8,
        )
        return y
