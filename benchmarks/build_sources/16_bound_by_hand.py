import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__global__ void swish_kernel(const float4* x, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    v.x /= 1.0f + __expf(-v.x);
    v.y /= 1.0f + __expf(-v.y);
    v.z /= 1.0f + __expf(-v.z);
    v.w /= 1.0f + __expf(-v.w);
    y[i] = v;
}

torch::Tensor swish(const torch::Tensor& x) {
    TORCH_CHECK(x.numel() % 4 == 0 && x.is_contiguous());
    auto y = torch::empty_like(x);
    const int n = x.numel() / 4;
    swish_kernel<<<(n + 255) / 256, 256>>>(
        reinterpret_cast<const float4*>(x.data_ptr<float>()), reinterpret_cast<float4*>(y.data_ptr<float>()), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""

cpp_source = r"""
torch::Tensor swish(const torch::Tensor& x);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("swish", &swish, "x * sigmoid(x)");
}
"""

bound_by_hand = load_inline(
    name="bound_by_hand",
    cpp_sources=cpp_source,
    cuda_sources=cuda_source,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return bound_by_hand.swish(x)
