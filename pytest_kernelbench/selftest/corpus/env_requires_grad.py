# name: env_requires_grad
# family: env
# problem: bias_relu
# device: any
# expected: accept_or_flag: ok
# neutralised: speedup <= 1.15
# note: turns gradients on and returns an output that carries a graph: .numpy() on it raises in a judge that did not expect it.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        with torch.enable_grad():
            return torch.relu(x + self.bias)
