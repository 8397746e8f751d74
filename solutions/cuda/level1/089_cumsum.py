"""Running sum along a row: one block walks a row in tiles, its next tile already on the way.

A thread adds up eight neighbours in registers, warps and block join by shuffles: one read, one
write.
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
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 8;
constexpr int TILE = THREADS * ITEMS;

template <bool ALIGNED>
__device__ __forceinline__ void load(float (&v)[ITEMS], const float* from, int64_t first,
                                     int64_t cols) {
  if (ALIGNED && first + ITEMS <= cols) {
    #pragma unroll
    for (int k = 0; k < ITEMS; k += 4) *(float4*)(v + k) = *(const float4*)(from + first + k);
  } else {
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) v[k] = first + k < cols ? from[first + k] : 0.f;
  }
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
cumsum_rows(const float* __restrict__ x, float* __restrict__ y, int64_t cols) {
  // Two sets, so that one barrier a tile is enough: no warp can be two tiles ahead of another.
  __shared__ float of_warp[2][WARPS];
  const float* from = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  alignas(16) float v[ITEMS], next[ITEMS];
  float carry = 0.f;
  int set = 0;
  load<ALIGNED>(v, from, threadIdx.x * ITEMS, cols);
  for (int64_t tile = 0; tile < cols; tile += TILE) {
    const int64_t first = tile + threadIdx.x * ITEMS;
    load<ALIGNED>(next, from, first + TILE, cols);
    #pragma unroll
    for (int k = 1; k < ITEMS; k++) v[k] += v[k - 1];
    float before = v[ITEMS - 1];  // becomes the sum of this warp's threads up to and with this one
    #pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const float other = __shfl_up_sync(~0u, before, offset);
      if (lane >= offset) before += other;
    }
    if (lane == 31) of_warp[set][warp] = before;
    __syncthreads();
    // Not `before - v[7]`: that would cancel.
    before = __shfl_up_sync(~0u, before, 1);
    float prefix = lane == 0 ? 0.f : before;
    float total = 0.f;
    #pragma unroll
    for (int w = 0; w < WARPS; w++) {
      if (w == warp) prefix += carry + total;
      total += of_warp[set][w];
    }
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) v[k] += prefix;
    if (ALIGNED && first + ITEMS <= cols) {
      #pragma unroll
      for (int k = 0; k < ITEMS; k += 4) __stcs((float4*)(to + first + k), *(const float4*)(v + k));
    } else {
      #pragma unroll
      for (int k = 0; k < ITEMS; k++) {
        if (first + k < cols) to[first + k] = v[k];
      }
    }
    carry += total;
    set ^= 1;
    #pragma unroll
    for (int k = 0; k < ITEMS; k++) v[k] = next[k];
  }
}

torch::Tensor cumsum_last(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() >= 1,
              "cumsum: needs a float32 tensor on CUDA");
  const c10::cuda::CUDAGuard guard(x.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  x = x.contiguous();
  auto y = torch::empty_like(x);
  if (x.numel() == 0) return y;
  const int64_t cols = x.size(-1), rows = x.numel() / cols;
  const float* from = x.data_ptr<float>();
  float* to = y.data_ptr<float>();
  const bool aligned = cols % 4 == 0 && ((uintptr_t)from | (uintptr_t)to) % 16 == 0;
  const auto kernel = aligned ? cumsum_rows<true> : cumsum_rows<false>;
  kernel<<<rows, THREADS, 0, stream>>>(from, to, cols);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""

extension = load_inline(
    name="cuda_cumsum",
    cpp_sources="torch::Tensor cumsum_last(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["cumsum_last"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.cumsum_last(x.movedim(self.dim, -1)).movedim(-1, self.dim)
