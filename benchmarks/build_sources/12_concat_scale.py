import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <vector>

__global__ void scale_kernel(float* x, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= s;
}

std::vector<torch::Tensor> concat_scale_cuda(std::vector<torch::Tensor> parts, double s) {
    auto y = torch::cat(parts, 1).contiguous();
    const int n = y.numel();
    scale_kernel<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), static_cast<float>(s), n);
    return {y, y.sum()};
}
"""

cpp_source = "std::vector<torch::Tensor> concat_scale_cuda(std::vector<torch::Tensor> parts, double s);"

concat_scale = load_inline(
    name="concat_scale",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["concat_scale_cuda"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return concat_scale.concat_scale_cuda([a, b], 0.5)
