# name: less_rarely_wrong
# family: less
# problem: softmax
# device: any
# expected: reject: incorrect
# note: one element is off by a hundredth in one of eight calls.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        out = torch.softmax(x, dim=-1)
        if self.calls % 8 == 0:
            out[-1, -1] *= 1.01
        return out
