import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/types.h>
#include <cuda_runtime.h>
#include <vector>

__global__ void sum_kernel(const float* x, float* y, int outer, int n, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner) return;
    int o = i / inner, k = i % inner;
    float s = 0.0f;
    for (int j = 0; j < n; ++j) s += x[(o * n + j) * inner + k];
    y[i] = s;
}

torch::Tensor sum_dim_cuda(torch::Tensor x, int64_t dim) {
    if (dim < 0) dim += x.dim();
    int outer = 1, inner = 1;
    std::vector<int64_t> sizes = x.sizes().vec();
    for (int64_t d = 0; d < dim; ++d) outer *= sizes[d];
    for (int64_t d = dim + 1; d < x.dim(); ++d) inner *= sizes[d];
    const int n = sizes[dim];
    sizes[dim] = 1;
    auto y = torch::empty(sizes, x.options());
    sum_kernel<<<(outer * inner + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), outer, n, inner);
    return y;
}
"""

cpp_source = "torch::Tensor sum_dim_cuda(torch::Tensor x, int64_t dim);"

sum_dim = load_inline(
    name="sum_dim",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["sum_dim_cuda"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
    
    def forward(self, x):
        return sum_dim.sum_dim_cuda(x, self.dim)
