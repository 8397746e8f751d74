import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cfloat>

__global__ void softmax_kernel(const float* x, float* y, int cols) {
    extern __shared__ float part[];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float* out = y + static_cast<int64_t>(blockIdx.x) * cols;
    float top = -FLT_MAX;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) top = fmaxf(top, row[j]);
    part[threadIdx.x] = top;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    top = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += __expf(row[j] - top);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    const float scale = 1.0f / part[0];
    for (int j = threadIdx.x; j < cols; j += blockDim.x) out[j] = __expf(row[j] - top) * scale;
}

torch::Tensor softmax_rows_cuda(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    softmax_kernel<<<x.size(0), 256, 256 * sizeof(float)>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""

cpp_source = "torch::Tensor softmax_rows_cuda(torch::Tensor x);"

softmax_rows = load_inline(
    name="softmax_rows",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
    functions=["softmax_rows_cuda"],
    extra_cflags=["-O3"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return softmax_rows.softmax_rows_cuda(x)
