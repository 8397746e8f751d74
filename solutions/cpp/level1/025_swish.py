"""Swish on the CPU: one pass, vectorised, in parallel; eager makes two and a temporary.

Written without torch's headers, so that it builds in seconds: pointers in, pointers out.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

DEVICES = ("cpu",)

CPP = r"""
#include <pybind11/pybind11.h>
#include <cstdint>
#include <cstring>

// e^x to about one unit in the last place, without a branch, so that the compiler can vectorise
// the loop around it: x = n ln 2 + f, a polynomial for e^f, and n added to the exponent's bits.
static inline float exp_(float x) {
  x = x < -87.f ? -87.f : x;
  x = x > 88.f ? 88.f : x;
  // Adding 1.5 * 2^23 leaves the rounded integer in the low bits.
  const float shifted = x * 1.44269504f + 12582912.f;
  const float n = shifted - 12582912.f;
  const float f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.f;
  int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  bits = (bits - 0x4B400000 + 127) << 23;
  float power;
  std::memcpy(&power, &bits, 4);
  return p * power;
}

void swish(uint64_t from, uint64_t to, int64_t n) {
  const float* __restrict__ x = (const float*)from;
  float* __restrict__ y = (float*)to;
  #pragma omp parallel for simd if (n > 16384)
  for (int64_t i = 0; i < n; i++) y[i] = x[i] / (1.f + exp_(-x[i]));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("swish", &swish); }
"""

extension = load_inline(
    name="cpp_swish",
    cpp_sources=CPP,
    no_implicit_headers=True,
    # Without the third, GCC turns the two clamps into branches, each with a division of its own.
    extra_cflags=["-O3", "-march=native", "-fno-thread-jumps", "-fno-trapping-math", "-fopenmp"],
    extra_ldflags=["-fopenmp"],
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32 or x.device.type != "cpu":
            message = f"swish: needs float32 on the CPU, not {x.dtype} on {x.device}"
            raise TypeError(message)
        x = x.contiguous()
        y = torch.empty_like(x)
        extension.swish(x.data_ptr(), y.data_ptr(), x.numel())
        return y
