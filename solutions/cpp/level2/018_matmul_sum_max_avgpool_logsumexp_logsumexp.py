"""Sum over the outputs of a linear layer, as one product with the summed weight, on the CPU.

What follows the sum runs over one element and changes nothing. The weight's sums are taken anew
in each call, since the weight may have changed. Written without torch's headers, so that it
builds in seconds.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

DEVICES = ("cpu",)

CPP = r"""
#include <pybind11/pybind11.h>
#include <algorithm>
#include <cstdint>
#include <vector>

constexpr int64_t BLOCK = 256;
constexpr int LANES = 16;

void summed_linear(uint64_t x_at, uint64_t weight_at, uint64_t bias_at, uint64_t y_at,
                   int64_t rows, int64_t in, int64_t out) {
  const float* x = (const float*)x_at;
  const float* weight = (const float*)weight_at;
  const float* bias = (const float*)bias_at;
  float* y = (float*)y_at;
  std::vector<float> sums(in);
  const bool worth_threads = (rows + out) * in > 32768;

  #pragma omp parallel for if (worth_threads)
  for (int64_t first = 0; first < in; first += BLOCK) {
    const int64_t count = std::min(BLOCK, in - first);
    float part[BLOCK] = {};
    for (int64_t o = 0; o < out; o++) {
      const float* of_output = weight + o * in + first;
      #pragma omp simd
      for (int64_t i = 0; i < count; i++) part[i] += of_output[i];
    }
    std::copy(part, part + count, sums.begin() + first);
  }
  double offset = 0;
  for (int64_t o = 0; o < out; o++) offset += bias[o];

  #pragma omp parallel for if (worth_threads)
  for (int64_t row = 0; row < rows; row++) {
    const float* of_row = x + row * in;
    float lanes[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= in; i += LANES) {
      for (int l = 0; l < LANES; l++) lanes[l] += of_row[i + l] * sums[i + l];
    }
    for (; i < in; i++) lanes[0] += of_row[i] * sums[i];
    double total = offset;
    for (int l = 0; l < LANES; l++) total += lanes[l];
    y[row] = (float)total;
  }
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("summed_linear", &summed_linear); }
"""

extension = load_inline(
    name="cpp_summed_linear",
    cpp_sources=CPP,
    no_implicit_headers=True,
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32 or x.device.type != "cpu":
            message = f"summed_linear: needs float32 on the CPU, not {x.dtype} on {x.device}"
            raise TypeError(message)
        x = x.contiguous()
        weight, bias = self.linear.weight, self.linear.bias
        y = x.new_empty((x.shape[0], 1))
        extension.summed_linear(
            x.data_ptr(),
            weight.data_ptr(),
            bias.data_ptr(),
            y.data_ptr(),
            x.shape[0],
            *weight.t().shape,
        )
        return y
