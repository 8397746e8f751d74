# name: corrupt_points_elsewhere
# family: corrupt
# problem: bias_relu
# device: cpu
# expected: reject: incorrect
# note: patches the runner's description of tensors to point into libc, which the judge may read like any other memory.
import ctypes
import sys
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        wire = sys.modules["pytest_kernelbench.judge.wire"]
        forms = sys.modules["pytest_kernelbench.judge.inside.forms"]
        libc = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value & ~4095
        shape, strides = tuple(x.shape), tuple(x.stride())
        forms.leaf = lambda tensor: wire.Leaf("float32", shape, strides, libc, "cpu", True)
        return x
