"""Layer normalisation of few, very long samples: many blocks share a sample.

The first kernel leaves count, mean and squared deviation of each chunk, the second joins them
(Chan's formula, so that nothing cancels) and normalises. Chunks of one place in all samples
follow each other, so that weight and bias are read from memory once and from the cache
afterwards.
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
constexpr int ITEMS = 8;  // accesses a thread

template <int VEC> struct Vector { float v[VEC]; };
template <> struct alignas(16) Vector<4> { float v[4]; };

__device__ float sum_block(float v) {
  __shared__ float of_warp[THREADS / 32];
  #pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(~0u, v, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.f;
  #pragma unroll
  for (int w = 0; w < THREADS / 32; w++) v += of_warp[w];
  return v;
}

template <int VEC>
__global__ void __launch_bounds__(THREADS)
chunk_moments(const float* __restrict__ x, float2* __restrict__ moments, int rows, int64_t length,
              int chunks) {
  const int row = blockIdx.x % rows, chunk = blockIdx.x / rows;
  const int64_t begin = (int64_t)chunk * THREADS * ITEMS * VEC;
  const int count = (int)min((int64_t)THREADS * ITEMS * VEC, length - begin);
  const Vector<VEC>* from = (const Vector<VEC>*)(x + row * length + begin);
  Vector<VEC> v[ITEMS];
  float sum = 0.f;
  #pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const int at = i * THREADS + threadIdx.x;
    const bool inside = at * VEC < count;
    if (inside) v[i] = from[at];
    #pragma unroll
    for (int k = 0; k < VEC; k++) {
      if (!inside) v[i].v[k] = 0.f;
      sum += v[i].v[k];
    }
  }
  const float mean = sum_block(sum) / count;
  float squares = 0.f;
  #pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const bool inside = (i * THREADS + threadIdx.x) * VEC < count;
    #pragma unroll
    for (int k = 0; k < VEC; k++) {
      const float d = inside ? v[i].v[k] - mean : 0.f;
      squares = fmaf(d, d, squares);
    }
  }
  squares = sum_block(squares);
  if (threadIdx.x == 0) moments[(int64_t)row * chunks + chunk] = make_float2(mean, squares);
}

template <int VEC>
__global__ void __launch_bounds__(THREADS)
normalise(const float* __restrict__ x, const float2* __restrict__ moments,
          const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ y,
          int rows, int64_t length, int chunks, float eps) {
  constexpr int64_t CHUNK = (int64_t)THREADS * ITEMS * VEC;
  const int row = blockIdx.x % rows, chunk = blockIdx.x / rows;
  const int64_t begin = chunk * CHUNK;
  const int count = (int)min(CHUNK, length - begin);
  const float2* of_row = moments + (int64_t)row * chunks;

  float sum = 0.f;
  for (int c = threadIdx.x; c < chunks; c += THREADS) {
    sum += of_row[c].x * ((float)min(CHUNK, length - c * CHUNK) / length);
  }
  const float mean = sum_block(sum);
  float squares = 0.f;
  for (int c = threadIdx.x; c < chunks; c += THREADS) {
    const float d = of_row[c].x - mean;
    squares += (of_row[c].y + d * d * min(CHUNK, length - c * CHUNK)) / length;
  }
  const float scale = 1.f / sqrtf(sum_block(squares) + eps);

  const Vector<VEC>* from = (const Vector<VEC>*)(x + row * length + begin);
  const Vector<VEC>* w = (const Vector<VEC>*)(weight + begin);
  const Vector<VEC>* b = (const Vector<VEC>*)(bias + begin);
  Vector<VEC>* to = (Vector<VEC>*)(y + row * length + begin);
  #pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const int at = i * THREADS + threadIdx.x;
    if (at * VEC >= count) break;
    Vector<VEC> v = from[at];
    const Vector<VEC> wv = w[at], bv = b[at];
    #pragma unroll
    for (int k = 0; k < VEC; k++) v.v[k] = fmaf((v.v[k] - mean) * scale, wv.v[k], bv.v[k]);
    to[at] = v;
  }
}

template <int VEC>
void run(const float* x, const float* weight, const float* bias, float* y,
         const torch::Tensor& like, int rows, int64_t length, float eps, cudaStream_t stream) {
  const int64_t chunk = (int64_t)THREADS * ITEMS * VEC;
  const int chunks = (int)((length + chunk - 1) / chunk);
  auto moments = torch::empty({rows, chunks, 2}, like.options());
  auto* m = (float2*)moments.data_ptr<float>();
  const unsigned blocks = (unsigned)((int64_t)rows * chunks);
  chunk_moments<VEC><<<blocks, THREADS, 0, stream>>>(x, m, rows, length, chunks);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  normalise<VEC><<<blocks, THREADS, 0, stream>>>(x, m, weight, bias, y, rows, length, chunks, eps);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor layernorm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 &&
              weight.scalar_type() == torch::kFloat32, "layernorm: needs float32 on CUDA");
  TORCH_CHECK(weight.numel() == bias.numel() && x.numel() % weight.numel() == 0,
              "layernorm: weight and bias must have the shape of one sample");
  const c10::cuda::CUDAGuard guard(x.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  x = x.contiguous(); weight = weight.contiguous(); bias = bias.contiguous();
  auto y = torch::empty_like(x);
  if (x.numel() == 0) return y;
  const int64_t length = weight.numel();
  const int rows = (int)(x.numel() / length);
  const float* from = x.data_ptr<float>();
  const float* w = weight.data_ptr<float>();
  const float* b = bias.data_ptr<float>();
  float* to = y.data_ptr<float>();
  const bool aligned = length % 4 == 0 &&
      ((uintptr_t)from | (uintptr_t)w | (uintptr_t)b | (uintptr_t)to) % 16 == 0;
  (aligned ? run<4> : run<1>)(from, w, b, to, x, rows, length, (float)eps, stream);
  return y;
}
"""

extension = load_inline(
    name="cuda_layernorm",
    cpp_sources=(
        "torch::Tensor layernorm("
        "torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);"
    ),
    cuda_sources=CUDA,
    functions=["layernorm"],
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        nn.init.uniform_(self.ln.weight, 0.5, 1.5)
        nn.init.normal_(self.ln.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return extension.layernorm(x, self.ln.weight, self.ln.bias, self.ln.eps)
