"""A kernel that spins for five minutes, which no judge waits for; bounded, in case none kills it."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <pybind11/pybind11.h>
#include <cstdint>
void launch(uint64_t y, int64_t n, uint64_t stream);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launch", &launch); }
"""

CUDA = r"""
#include <cstdint>
__device__ long long now() {
  long long ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}
__global__ void kernel(float* y, int64_t n) {
  const long long start = now();
  while (now() - start < 300ll * 1000 * 1000 * 1000) {}
  y[0] += 0.f;
}
void launch(uint64_t y, int64_t n, uint64_t stream) {
  kernel<<<1, 1, 0, (cudaStream_t)stream>>>((float*)y, n);
}
"""

extension = load_inline(
    name="timed_out_kernel", cpp_sources=CPP, cuda_sources=CUDA, no_implicit_headers=True
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        extension.launch(y.data_ptr(), y.numel(), torch.cuda.current_stream().cuda_stream)
        return y
