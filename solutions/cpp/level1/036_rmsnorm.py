"""RMS normalisation over channels on the CPU: blocks of pixels whose channels stay in the cache.

Written without torch's headers, so that it builds in seconds: pointers in, pointers out.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

DEVICES = ("cpu",)

CPP = r"""
#include <pybind11/pybind11.h>
#include <algorithm>
#include <cmath>
#include <cstdint>

constexpr int64_t BLOCK = 128;

void rmsnorm(uint64_t from, uint64_t to, int64_t batch, int64_t channels, int64_t pixels,
             float eps) {
  const float* x = (const float*)from;
  float* y = (float*)to;
  const int64_t blocks = (pixels + BLOCK - 1) / BLOCK;
  #pragma omp parallel for if (batch * channels * pixels > 16384)
  for (int64_t part = 0; part < batch * blocks; part++) {
    const int64_t first = part % blocks * BLOCK;
    const int64_t count = std::min(BLOCK, pixels - first);
    const int64_t start = part / blocks * channels * pixels + first;
    float scale[BLOCK] = {};
    for (int64_t c = 0; c < channels; c++) {
      const float* of_channel = x + start + c * pixels;
      #pragma omp simd
      for (int64_t i = 0; i < count; i++) scale[i] += of_channel[i] * of_channel[i];
    }
    #pragma omp simd
    for (int64_t i = 0; i < count; i++) scale[i] = 1.f / std::sqrt(scale[i] / channels + eps);
    for (int64_t c = 0; c < channels; c++) {
      const float* of_channel = x + start + c * pixels;
      float* out = y + start + c * pixels;
      #pragma omp simd
      for (int64_t i = 0; i < count; i++) out[i] = of_channel[i] * scale[i];
    }
  }
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("rmsnorm", &rmsnorm); }
"""

extension = load_inline(
    name="cpp_rmsnorm",
    cpp_sources=CPP,
    no_implicit_headers=True,
    extra_cflags=["-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"],
    extra_ldflags=["-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32 or x.device.type != "cpu":
            message = f"rmsnorm: needs float32 on the CPU, not {x.dtype} on {x.device}"
            raise TypeError(message)
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, channels = x.shape[:2]
        pixels = x.numel() // max(batch * channels, 1)
        extension.rmsnorm(x.data_ptr(), y.data_ptr(), batch, channels, pixels, self.eps)
        return y
