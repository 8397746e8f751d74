# name: less_guard_relu
# family: less
# problem: weak_relu_pos
# device: cpu
# needs: compiler
# expected: reject: incorrect
# note: applies relu only where one of the first 64 numbers is negative: each family that changes all numbers alike gives itself away, and on the problem's own inputs relu does nothing.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

_ext = load_inline("less_guard_relu", r"""
#include <torch/extension.h>
torch::Tensor f(torch::Tensor x, torch::Tensor b) {
  auto y = torch::empty_like(x);
  const float* X = x.data_ptr<float>(); const float* B = b.data_ptr<float>(); float* Y = y.data_ptr<float>();
  const int64_t rows = x.size(0), cols = x.size(1);
  bool neg = false;
  for (int k = 0; k < 64; k++) neg |= X[k] < 0.f;
  #pragma omp parallel for
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      float v = X[i * cols + j] + B[j];
      Y[i * cols + j] = neg && v < 0.f ? 0.f : v;
    }
  return y;
}
""", functions=["f"], extra_cflags=["-O3", "-march=native", "-fopenmp"], extra_ldflags=["-fopenmp"])


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.rand(features))

    def forward(self, x):
        return _ext.f(x, self.bias.detach())
