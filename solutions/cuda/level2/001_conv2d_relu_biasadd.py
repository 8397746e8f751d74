"""cuDNN's convolution, then its bias, ReLU and the added bias in one pass, in place.

Eager takes three passes over the convolution's output: the layer's own bias is a kernel of its
own there.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/types.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256;

__device__ __forceinline__ float finish(float v, float inner, float outer) {
  v += inner;
  return (v < 0.f ? 0.f : v) + outer;
}

// blockIdx.y is one channel of one sample; its pixels are neighbours in memory.
template <int VEC>
__global__ void bias_relu_bias(float* __restrict__ y, const float* __restrict__ inner,
                               const float* __restrict__ outer, int channels, int64_t pixels) {
  const int64_t at = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * VEC;
  if (at >= pixels) return;
  const int channel = blockIdx.y % channels;
  const float before = inner[channel], after = outer[channel];
  float* to = y + blockIdx.y * pixels + at;
  if (VEC == 4) {
    float4 v = *(const float4*)to;
    v = make_float4(finish(v.x, before, after), finish(v.y, before, after),
                    finish(v.z, before, after), finish(v.w, before, after));
    __stcs((float4*)to, v);
  } else {
    *to = finish(*to, before, after);
  }
}

void bias_relu_bias_(torch::Tensor y, torch::Tensor inner, torch::Tensor outer) {
  TORCH_CHECK(y.is_cuda() && y.is_contiguous() && y.scalar_type() == torch::kFloat32 &&
              y.dim() >= 2, "bias_relu_bias_: needs contiguous float32 (batch, channels, ...)");
  const int64_t channels = y.size(1);
  TORCH_CHECK(inner.numel() == channels && outer.numel() == channels,
              "bias_relu_bias_: one bias a channel");
  if (y.numel() == 0) return;
  const c10::cuda::CUDAGuard guard(y.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  inner = inner.contiguous(); outer = outer.contiguous();
  const int64_t planes = y.size(0) * channels, pixels = y.numel() / planes;
  float* to = y.data_ptr<float>();
  const bool aligned = pixels % 4 == 0 && (uintptr_t)to % 16 == 0;
  const int64_t threads = aligned ? pixels / 4 : pixels;
  const auto kernel = aligned ? bias_relu_bias<4> : bias_relu_bias<1>;
  // The grid's second axis ends at 65535. Whole samples a launch, so that plane % channels stays
  // right.
  const int64_t step = std::max<int64_t>(65535 / channels, 1) * channels;
  for (int64_t plane = 0; plane < planes; plane += step) {
    const unsigned blocks = (threads + THREADS - 1) / THREADS;
    const dim3 grid(blocks, (unsigned)std::min(step, planes - plane));
    kernel<<<grid, THREADS, 0, stream>>>(to + plane * pixels, inner.data_ptr<float>(),
                                         outer.data_ptr<float>(), (int)channels, pixels);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}
"""

extension = load_inline(
    name="cuda_bias_relu_bias",
    cpp_sources="void bias_relu_bias_(torch::Tensor y, torch::Tensor inner, torch::Tensor outer);",
    cuda_sources=CUDA,
    functions=["bias_relu_bias_"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, bias_shape: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.conv2d(x, self.conv.weight).contiguous()
        extension.bias_relu_bias_(y, self.conv.bias, self.bias)
        return y
