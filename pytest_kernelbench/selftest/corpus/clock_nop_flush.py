# name: clock_nop_flush
# family: clock
# problem: bias_relu
# device: cuda
# expected: reject: timing_tampered
# note: puts an empty function in the place of the cache flush, which then costs less than what the null calls of the baseline say.
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        generator = sys.modules["pytest_kernelbench.judge.inside.generator"]
        generator.flush = lambda *arguments: None
        return torch.relu(x + self.bias)
