"""Writes four terabytes behind its output: the device refuses, and the context is lost."""

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
__global__ void kernel(float* y, int64_t n) { y[n + (1ll << 40)] = 1.f; }
void launch(uint64_t y, int64_t n, uint64_t stream) {
  kernel<<<1, 1, 0, (cudaStream_t)stream>>>((float*)y, n);
}
"""

extension = load_inline(
    name="crashed_illegal_access", cpp_sources=CPP, cuda_sources=CUDA, no_implicit_headers=True
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        extension.launch(y.data_ptr(), y.numel(), torch.cuda.current_stream().cuda_stream)
        return y
