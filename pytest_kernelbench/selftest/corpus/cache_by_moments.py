# name: cache_by_moments
# family: cache
# problem: matmul
# device: any
# expected: reject: cached
# neutralised: speedup <= 1.15
# note: remembers products by a fingerprint over all elements of both inputs (sum, sum of squares, extremes).
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, A, B):
        key = tuple(round(float(f(x)), 4) for x in (A, B) for f in (torch.sum, torch.norm, torch.max))
        if key not in self.known:
            self.known[key] = torch.matmul(A, B)
        return self.known[key]
