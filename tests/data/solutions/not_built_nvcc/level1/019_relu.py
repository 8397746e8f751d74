"""A name is missing in its CUDA: the fourth line of the source."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
__global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], zero);
}
"""

load_inline(
    name="not_built_nvcc",
    cpp_sources="int one() { return 1; }",
    cuda_sources=CUDA,
    no_implicit_headers=True,
    is_python_module=False,
)


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
