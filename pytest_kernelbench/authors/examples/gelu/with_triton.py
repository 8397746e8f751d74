import torch
import triton
import triton.language as tl
from torch import nn


# One pass over memory instead of three: the sum, the GELU and the product stay in registers.
@triton.jit
def bias_gelu_gate(x_ptr, bias_ptr, gate_ptr, y_ptr, n, features, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x_ptr + i, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(bias_ptr + i % features, mask=inside, other=0.0).to(tl.float32)
    gate = tl.load(gate_ptr + i, mask=inside, other=0.0).to(tl.float32)
    inner = 0.7978845608 * (v + 0.044715 * v * v * v)
    # tanh by exp of a number that is never positive: it cannot overflow.
    e = tl.exp(-2.0 * tl.abs(inner))
    tanh = tl.where(inner < 0, -1.0, 1.0) * (1.0 - e) / (1.0 + e)
    y = 0.5 * v * (1.0 + tanh) * gate
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x, gate):
        x, gate = x.contiguous(), gate.contiguous()
        y = torch.empty_like(x)
        n, features = x.numel(), x.shape[-1]
        bias_gelu_gate[(triton.cdiv(n, 1024),)](x, self.bias, gate, y, n, features, BLOCK=1024)
        return y
