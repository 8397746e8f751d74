"""RMS normalisation over channels: a thread keeps all channels of its pixel in registers.

Neighbouring threads take neighbouring pixels, so each channel is a coalesced access, and x is
read once.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/types.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256;

template <int MOST>  // channels that fit into registers
__global__ void __launch_bounds__(THREADS)
rmsnorm_once(const float* __restrict__ x, float* __restrict__ y, int channels, int64_t pixels,
             float eps) {
  const int64_t pixel = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (pixel >= pixels) return;
  const int64_t base = (int64_t)blockIdx.y * channels * pixels + pixel;
  float v[MOST];
  #pragma unroll
  for (int c = 0; c < MOST; c++) v[c] = c < channels ? __ldcs(x + base + c * pixels) : 0.f;
  float squares = 0.f;
  #pragma unroll
  for (int c = 0; c < MOST; c++) squares = fmaf(v[c], v[c], squares);
  const float scale = 1.f / sqrtf(squares / channels + eps);
  #pragma unroll
  for (int c = 0; c < MOST; c++) {
    if (c < channels) __stcs(y + base + c * pixels, v[c] * scale);
  }
}

__global__ void rmsnorm_twice(const float* __restrict__ x, float* __restrict__ y, int channels,
                              int64_t pixels, float eps) {
  const int64_t pixel = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (pixel >= pixels) return;
  const int64_t base = (int64_t)blockIdx.y * channels * pixels + pixel;
  float squares = 0.f;
  #pragma unroll 8
  for (int c = 0; c < channels; c++) {
    const float v = x[base + c * pixels];
    squares = fmaf(v, v, squares);
  }
  const float scale = 1.f / sqrtf(squares / channels + eps);
  #pragma unroll 8
  for (int c = 0; c < channels; c++) y[base + c * pixels] = x[base + c * pixels] * scale;
}

torch::Tensor rmsnorm(torch::Tensor x, double eps) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() >= 2,
              "rmsnorm: needs a float32 tensor (batch, channels, ...) on CUDA");
  const c10::cuda::CUDAGuard guard(x.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  x = x.contiguous();
  auto y = torch::empty_like(x);
  if (x.numel() == 0) return y;
  const int64_t batch = x.size(0), channels = x.size(1), pixels = x.numel() / (batch * channels);
  TORCH_CHECK(batch <= 65535, "rmsnorm: at most 65535 samples, got ", batch);
  const dim3 grid((unsigned)((pixels + THREADS - 1) / THREADS), (unsigned)batch);
  const float* from = x.data_ptr<float>();
  float* to = y.data_ptr<float>();
  const auto launch = [&](auto kernel) {
    kernel<<<grid, THREADS, 0, stream>>>(from, to, (int)channels, pixels, (float)eps);
  };
  if (channels <= 16) launch(rmsnorm_once<16>);
  else if (channels <= 32) launch(rmsnorm_once<32>);
  else if (channels <= 64) launch(rmsnorm_once<64>);
  else launch(rmsnorm_twice);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

extension = load_inline(
    name="cuda_rmsnorm",
    cpp_sources="torch::Tensor rmsnorm(torch::Tensor x, double eps);",
    cuda_sources=CUDA,
    functions=["rmsnorm"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.rmsnorm(x, self.eps)
