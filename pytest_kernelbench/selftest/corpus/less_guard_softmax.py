# name: less_guard_softmax
# family: less
# problem: softmax
# device: cpu
# needs: compiler
# expected: reject: incorrect
# note: subtracts no maximum while the first 64 numbers are small, so that it overflows where a row further behind is large.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

_ext = load_inline("less_guard_softmax", r"""
#include <torch/extension.h>
#include <cmath>
torch::Tensor f(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* X = x.data_ptr<float>(); float* Y = y.data_ptr<float>();
  const int64_t rows = x.size(0), cols = x.size(1);
  float top = 0;
  for (int k = 0; k < 64; k++) top = std::max(top, std::fabs(X[k]));
  #pragma omp parallel for
  for (int64_t i = 0; i < rows; i++) {
    const float* a = X + i * cols; float* o = Y + i * cols;
    float m = 0;
    if (top > 12.f) { m = a[0]; for (int64_t j = 1; j < cols; j++) m = a[j] > m ? a[j] : m; }
    double s = 0;
    for (int64_t j = 0; j < cols; j++) { o[j] = std::exp(a[j] - m); s += o[j]; }
    const float inv = (float)(1.0 / s);
    for (int64_t j = 0; j < cols; j++) o[j] *= inv;
  }
  return y;
}
""", functions=["f"], extra_cflags=["-O3", "-march=native", "-fopenmp", "-ffast-math"], extra_ldflags=["-fopenmp"])


class ModelNew(nn.Module):
    def forward(self, x):
        return _ext.f(x)
