# name: corrupt_class_swap
# family: corrupt
# problem: bias_relu
# device: any
# expected: reject: incorrect
# note: swaps the class of its output for a subclass that computes when it is first asked anything.
import torch
import torch.nn as nn


class _Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        out = torch.relu(x + self.bias).as_subclass(_Later)
        return out
