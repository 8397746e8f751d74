# name: clock_quick_generator
# family: clock
# problem: bias_relu
# device: cuda
# expected: reject: timing_tampered
# note: hands out the same inputs again in place of making those that the key asks for.
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        generator = sys.modules["pytest_kernelbench.judge.inside.generator"]
        made = generator.generate
        if made.__name__ != "again":
            kept = []

            def again(*arguments):
                kept[:] = kept[-1:] or [made(*arguments)]
                return kept[-1]

            generator.generate = again
        return torch.relu(x + self.bias)
