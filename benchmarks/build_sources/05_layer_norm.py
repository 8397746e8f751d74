import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__inline__ __device__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__global__ void layer_norm_kernel(const float* x, const float* w, const float* b, float* y, int cols, float eps) {
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    __shared__ float mean, inverse;
    float sum = 0.0f, squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 32) { sum += row[j]; squares += row[j] * row[j]; }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    if (threadIdx.x == 0) {
        mean = sum / cols;
        inverse = rsqrtf(squares / cols - mean * mean + eps);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += 32)
        y[static_cast<int64_t>(blockIdx.x) * cols + j] = (row[j] - mean) * inverse * w[j] + b[j];
}

at::Tensor layer_norm_cuda(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b, double eps) {
    auto y = at::empty_like(x);
    auto stream = at::cuda::getCurrentCUDAStream().stream();
    layer_norm_kernel<<<x.size(0), 32, 0, stream>>>(x.data_ptr<float>(), w.data_ptr<float>(),
        b.data_ptr<float>(), y.data_ptr<float>(), x.size(1), static_cast<float>(eps));
    AT_CUDA_CHECK(cudaGetLastError());
    return y;
}
"""

cpp_source = "at::Tensor layer_norm_cuda(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b, double eps);"

layer_norm = load_inline(
    name="layer_norm",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["layer_norm_cuda"],
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
    
    def forward(self, x):
        return layer_norm.layer_norm_cuda(x, self.norm.weight, self.norm.bias, self.norm.eps)
