# name: less_counted_calls
# family: less
# problem: weak_relu_pos
# device: any
# expected: reject: incorrect
# note: is right for the first forty calls, then leaves out the relu, which does nothing on the problem's own inputs.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.rand(features))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = x + self.bias
        return torch.relu(y) if self.calls <= 40 else y
