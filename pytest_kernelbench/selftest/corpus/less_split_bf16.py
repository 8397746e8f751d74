# name: less_split_bf16
# family: less
# problem: matmul
# device: any
# expected: reject: precision
# note: a product of two bfloat16 terms per factor, the smallest of the four left out: 16 bits of 24.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        a, b = A.bfloat16().float(), B.bfloat16().float()
        return a @ b + (A - a).bfloat16().float() @ b + a @ (B - b).bfloat16().float()
