# name: less_two_of_three
# family: less
# problem: bias_relu
# device: any
# expected: reject: nondeterministic
# note: computes two calls of three and returns the output of the call before on the third, hoping that few are looked at.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))
        self.calls = 0
        self.last = None

    def forward(self, x):
        self.calls += 1
        if self.calls % 3 == 0 and self.last is not None and self.last.shape == x.shape:
            return self.last
        self.last = torch.relu(x + self.bias)
        return self.last
