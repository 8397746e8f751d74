from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void add_kernel(const float* a, const float* b, float* c, int64_t n) {
    int64_t step = int64_t(blockDim.x) * gridDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        c[i] = a[i] + b[i];
    }
}

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty_like(a);
    int64_t n = a.numel();
    if (n == 0) return c;
    int blocks = int(std::min<int64_t>((n + 255) / 256, 1 << 16));
    add_kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
"""

extension = load_inline(
    name="example_add",
    cpp_sources="torch::Tensor add(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["add"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.add(a.contiguous(), b.contiguous())
