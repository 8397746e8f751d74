import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

# One pass over memory instead of three: the sum, the GELU and the product stay in registers.
CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__device__ float gelu(float v) {
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    return 0.5f * v * (1.0f + tanhf(inner));
}

__global__ void bias_gelu_gate(const float* x, const float* bias, const float* gate, float* y,
                               int64_t n, int features) {
    int64_t step = int64_t(blockDim.x) * gridDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        y[i] = gelu(x[i] + bias[i % features]) * gate[i];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias, torch::Tensor gate) {
    auto y = torch::empty_like(x);
    int64_t n = x.numel();
    if (n == 0) return y;
    int blocks = int(std::min<int64_t>((n + 255) / 256, 1 << 16));
    bias_gelu_gate<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), gate.data_ptr<float>(), y.data_ptr<float>(), n,
        int(bias.numel()));
    return y;
}
"""

extension = load_inline(
    name="example_gelu",
    cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor bias, torch::Tensor gate);",
    cuda_sources=CUDA,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x, gate):
        return extension.forward(x.contiguous(), self.bias.detach(), gate.contiguous())
