from torch import nn
from torch.utils.cpp_extension import load_inline

CPP = r"""
#include <torch/extension.h>
#include <ATen/Parallel.h>

torch::Tensor add(torch::Tensor a, torch::Tensor b) {
    auto c = torch::empty_like(a);
    const float* x = a.data_ptr<float>();
    const float* y = b.data_ptr<float>();
    float* z = c.data_ptr<float>();
    at::parallel_for(0, a.numel(), 1 << 15, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) z[i] = x[i] + y[i];
    });
    return c;
}
"""

extension = load_inline(
    name="example_add_cpp", cpp_sources=CPP, functions=["add"], extra_cflags=["-O3"]
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.add(a.contiguous(), b.contiguous())
