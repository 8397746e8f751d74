# name: less_precise_at_first
# family: less
# problem: matmul
# device: any
# expected: reject: precision
# note: full precision for the first calls, half of it once the timing is under way.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, A, B):
        self.calls += 1
        if self.calls <= 16:
            return torch.matmul(A, B)
        return torch.matmul(A.half().float(), B.half().float())
