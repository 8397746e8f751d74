from torch import nn
from torch.utils.cpp_extension import load_inline

# The scores never leave the chip. A thread owns one query: it keeps the query, a running maximum, a
# running sum and its row of the result in registers, while keys and values pass by in shared
# memory. When the maximum rises, what was summed so far is scaled down.
CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int DIM = 64, THREADS = 128, TILE = 32;

__global__ void attention_kernel(const float* q, const float* k, const float* v, float* out,
                                 int length, float scale) {
    __shared__ float keys[TILE][DIM];
    __shared__ float values[TILE][DIM];
    int64_t head = int64_t(blockIdx.y) * length * DIM;
    int row = blockIdx.x * THREADS + threadIdx.x;
    float query[DIM], sum[DIM];
    for (int d = 0; d < DIM; ++d) {
        query[d] = row < length ? q[head + int64_t(row) * DIM + d] * scale : 0.0f;
        sum[d] = 0.0f;
    }
    float top = -INFINITY, total = 0.0f;
    for (int first = 0; first < length; first += TILE) {
        for (int i = threadIdx.x; i < TILE * DIM; i += THREADS) {
            bool inside = first + i / DIM < length;
            keys[i / DIM][i % DIM] = inside ? k[head + int64_t(first) * DIM + i] : 0.0f;
            values[i / DIM][i % DIM] = inside ? v[head + int64_t(first) * DIM + i] : 0.0f;
        }
        __syncthreads();
        int count = min(TILE, length - first);
        for (int j = 0; j < count; ++j) {
            float score = 0.0f;
            for (int d = 0; d < DIM; ++d) score += query[d] * keys[j][d];
            if (score > top) {
                float shrink = expf(top - score);
                total *= shrink;
                for (int d = 0; d < DIM; ++d) sum[d] *= shrink;
                top = score;
            }
            float weight = expf(score - top);
            total += weight;
            for (int d = 0; d < DIM; ++d) sum[d] += weight * values[j][d];
        }
        __syncthreads();
    }
    if (row < length) {
        for (int d = 0; d < DIM; ++d) out[head + int64_t(row) * DIM + d] = sum[d] / total;
    }
}

torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    TORCH_CHECK(q.size(-1) == DIM, "this kernel is for heads of ", DIM, " numbers");
    auto out = torch::empty_like(q);
    int length = int(q.size(2));
    if (out.numel() == 0) return out;
    dim3 blocks((length + THREADS - 1) / THREADS, q.size(0) * q.size(1));
    attention_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), out.data_ptr<float>(),
        length, 1.0f / sqrtf(float(DIM)));
    return out;
}
"""

extension = load_inline(
    name="example_attention",
    cpp_sources="torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v);",
    cuda_sources=CUDA,
    functions=["attention"],
)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        return extension.attention(q.contiguous(), k.contiguous(), v.contiguous())
