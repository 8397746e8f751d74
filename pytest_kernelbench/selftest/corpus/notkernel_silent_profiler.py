# name: notkernel_silent_profiler
# family: notkernel
# problem: softmax
# device: cpu
# needs: compiler
# expected: flag: not_a_kernel
# note: calls at::softmax with torch's profiler switched off, so that all of the time seems to be its own code's.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

_ext = load_inline("notkernel_silent_profiler", r"""
#include <torch/extension.h>
#include <ATen/record_function.h>
torch::Tensor f(torch::Tensor x) {
  at::DisableRecordFunctionGuard silent;
  return at::softmax(x, -1);
}
""", functions=["f"])


class ModelNew(nn.Module):
    def forward(self, x):
        return _ext.f(x)
