"""Attention over all pixels without its matrix of weights; residual and LayerNorm fused.

Eager's attention also returns the mean of its weights, 16384 x 16384 a sample: gigabytes that
nobody reads. Here a tile of queries walks over the keys with a running maximum and sum. Products
are taken on the tensor cores as three TF32 products each, at float32's precision. Projections are
the library's.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn

LOG2_E = 1.4426950408889634


@triton.jit
def attention_kernel(
    qkv_ptr,
    out_ptr,
    tokens,
    batch,
    heads,
    size,
    scale,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    SIZE: tl.constexpr,
):
    # qkv is (tokens, batch, 3, heads, size) and out (tokens, batch, heads, size).
    sample = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    step = batch * 3 * heads * size
    q_at = qkv_ptr + (sample * 3 * heads + head) * size
    k_at = q_at + heads * size
    v_at = k_at + heads * size
    place = tl.arange(0, SIZE)
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    q_mask = (query[:, None] < tokens) & (place[None, :] < size)
    q = tl.load(q_at + query.to(tl.int64)[:, None] * step + place[None, :], mask=q_mask, other=0.0)
    q = q * scale

    top = tl.full((QUERIES,), -3.4028234e38, dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    out = tl.zeros((QUERIES, SIZE), dtype=tl.float32)
    for first in range(0, tokens, KEYS):
        key = first + tl.arange(0, KEYS)
        rows = key.to(tl.int64) * step
        k_mask = (place[:, None] < size) & (key[None, :] < tokens)
        k = tl.load(k_at + rows[None, :] + place[:, None], mask=k_mask, other=0.0)
        score = tl.dot(q, k, input_precision="tf32x3")
        score = tl.where(key[None, :] < tokens, score, float("-inf"))
        higher = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score - higher[:, None])
        fade = tl.exp2(top - higher)
        v_mask = (key[:, None] < tokens) & (place[None, :] < size)
        v = tl.load(v_at + rows[:, None] + place[None, :], mask=v_mask, other=0.0)
        total = total * fade + tl.sum(weight, axis=1)
        out = tl.dot(weight, v, out * fade[:, None], input_precision="tf32x3")
        top = higher
    out = out / total[:, None]
    rows = (query.to(tl.int64) * batch + sample) * heads * size + head * size
    tl.store(out_ptr + rows[:, None] + place[None, :], out, mask=q_mask)


@triton.jit
def residual_norm_kernel(
    x_ptr,
    y_ptr,
    bias_ptr,
    weight_ptr,
    shift_ptr,
    out_ptr,
    tokens,
    batch,
    channels,
    eps,
    TOKENS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    # x and out are (batch, channels, tokens), y is (tokens, batch, channels).
    sample = tl.program_id(1).to(tl.int64)
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    channel = tl.arange(0, CHANNELS)
    mask = (token[:, None] < tokens) & (channel[None, :] < channels)
    image_at = (sample * channels + channel[None, :]) * tokens + token[:, None]
    y_at = (token.to(tl.int64)[:, None] * batch + sample) * channels + channel[None, :]
    inside = channel < channels
    bias = tl.load(bias_ptr + channel, mask=inside, other=0.0)
    v = tl.load(y_ptr + y_at, mask=mask, other=0.0) + bias[None, :]
    v += tl.load(x_ptr + image_at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=1) / channels
    v = tl.where(mask, v - mean[:, None], 0.0)
    deviation = tl.sqrt(tl.sum(v * v, axis=1) / channels + eps)
    weight = tl.load(weight_ptr + channel, mask=inside, other=0.0)
    shift = tl.load(shift_ptr + channel, mask=inside, other=0.0)
    v = v / deviation[:, None] * weight[None, :] + shift[None, :]
    tl.store(out_ptr + image_at, v, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = nn.LayerNorm(embed_dim)
        nn.init.normal_(self.attn.in_proj_bias, std=0.2)
        nn.init.normal_(self.attn.out_proj.bias, std=0.2)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32:
            message = f"these kernels keep float32's precision and take nothing else, not {x.dtype}"
            raise TypeError(message)
        x = x.contiguous()
        batch, channels, height, width = x.shape
        tokens = height * width
        heads = self.attn.num_heads
        size = channels // heads
        sequence = x.view(batch, channels, tokens).permute(2, 0, 1).contiguous()
        qkv = F.linear(sequence, self.attn.in_proj_weight, self.attn.in_proj_bias)
        mixed = torch.empty_like(sequence)
        queries, keys = 64, 64
        attention_kernel[(triton.cdiv(tokens, queries), batch * heads)](
            qkv,
            mixed,
            tokens,
            batch,
            heads,
            size,
            LOG2_E * size**-0.5,
            QUERIES=queries,
            KEYS=keys,
            SIZE=max(16, triton.next_power_of_2(size)),
            num_warps=4,
            num_stages=2,
        )
        projected = F.linear(mixed, self.attn.out_proj.weight)
        out = torch.empty_like(x)
        residual_norm_kernel[(triton.cdiv(tokens, 32), batch)](
            x,
            projected,
            self.attn.out_proj.bias,
            self.norm.weight,
            self.norm.bias,
            out,
            tokens,
            batch,
            channels,
            self.norm.eps,
            TOKENS=32,
            CHANNELS=triton.next_power_of_2(channels),
            num_warps=4,
        )
        return out
