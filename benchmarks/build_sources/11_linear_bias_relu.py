import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <optional>

__global__ void bias_relu_kernel(float* y, const float* b, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) y[i] = fmaxf(y[i] + (b ? b[i % cols] : 0.0f), 0.0f);
}

torch::Tensor linear_bias_relu_cuda(torch::Tensor x, torch::Tensor w, std::optional<torch::Tensor> b) {
    auto y = torch::matmul(x, w.t()).contiguous();
    const int rows = y.size(0), cols = y.size(1);
    bias_relu_kernel<<<(rows * cols + 255) / 256, 256>>>(
        y.data_ptr<float>(), b.has_value() ? b->data_ptr<float>() : nullptr, rows, cols);
    return y;
}
"""

cpp_source = "torch::Tensor linear_bias_relu_cuda(torch::Tensor x, torch::Tensor w, std::optional<torch::Tensor> b);"

linear_bias_relu = load_inline(
    name="linear_bias_relu",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["linear_bias_relu_cuda"],
)


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
    
    def forward(self, x):
        return linear_bias_relu.linear_bias_relu_cuda(x, self.linear.weight, self.linear.bias)
