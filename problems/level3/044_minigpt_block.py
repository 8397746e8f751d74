"""Transformer block as in minGPT: causal attention and a GELU perceptron, each after a layer norm.

Changed: scales and shifts of the layer norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 128
MAX_SEQLEN = 1024
SEQ_LEN = 512
N_EMBD = 768
N_HEAD = 8
ATTN_PDROP = 0.0
RESID_PDROP = 0.0

SMOKE = {"BATCH_SIZE": 3, "MAX_SEQLEN": 19, "SEQ_LEN": 13, "N_EMBD": 42, "N_HEAD": 6}
SHAPES = [
    {"BATCH_SIZE": 3, "MAX_SEQLEN": 130, "SEQ_LEN": 127, "N_EMBD": 120, "N_HEAD": 5},
    {"BATCH_SIZE": 8, "SEQ_LEN": 384, "N_EMBD": 512, "N_HEAD": 8},
]


class NewGELU(nn.Module):
    """GELU by its tanh approximation, written out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class CausalSelfAttention(nn.Module):
    def __init__(
        self, n_embd: int, n_head: int, attn_pdrop: float, resid_pdrop: float, max_seqlen: int
    ) -> None:
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)
        mask = torch.tril(torch.ones(max_seqlen, max_seqlen))
        self.register_buffer("bias", mask.view(1, 1, max_seqlen, max_seqlen))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.n_head, width // self.n_head).transpose(1, 2)
            for part in self.c_attn(x).split(width, dim=2)
        )
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.bias[:, :, :length, :length] == 0, float("-inf"))
        weights = self.attn_dropout(F.softmax(scores, dim=-1))
        y = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.resid_dropout(self.c_proj(y))


class Model(nn.Module):
    def __init__(
        self, n_embd: int, n_head: int, attn_pdrop: float, resid_pdrop: float, max_seqlen: int
    ) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, attn_pdrop, resid_pdrop, max_seqlen)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.ModuleDict(
            {
                "c_fc": nn.Linear(n_embd, 4 * n_embd),
                "c_proj": nn.Linear(4 * n_embd, n_embd),
                "act": NewGELU(),
                "dropout": nn.Dropout(resid_pdrop),
            }
        )
        for norm in (self.ln_1, self.ln_2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        hidden = self.mlp["act"](self.mlp["c_fc"](self.ln_2(x)))
        return x + self.mlp["dropout"](self.mlp["c_proj"](hidden))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, SEQ_LEN, N_EMBD)]


def get_init_inputs() -> list:
    return [N_EMBD, N_HEAD, ATTN_PDROP, RESID_PDROP, MAX_SEQLEN]
