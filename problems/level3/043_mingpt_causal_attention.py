"""Causal multi-head self-attention as in minGPT: one projection for q, k, v, a triangular mask."""

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


class Model(nn.Module):
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


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, SEQ_LEN, N_EMBD)]


def get_init_inputs() -> list:
    return [N_EMBD, N_HEAD, ATTN_PDROP, RESID_PDROP, MAX_SEQLEN]
