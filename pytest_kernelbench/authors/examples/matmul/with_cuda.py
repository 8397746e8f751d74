from torch import nn
from torch.utils.cpp_extension import load_inline

# A block computes a tile of 64 x 64, 16 columns of A and rows of B at a time from shared memory; a
# thread holds 4 x 4 sums in registers, so that each number from shared memory is used four times.
CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int TILE = 64, DEPTH = 16, PER = 4, SIDE = TILE / PER;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float tile_a[DEPTH][TILE + 1];
    __shared__ float tile_b[DEPTH][TILE];
    int thread = threadIdx.x;
    int row = thread / SIDE, col = thread % SIDE;
    int64_t top = int64_t(blockIdx.y) * TILE, left = int64_t(blockIdx.x) * TILE;
    float sum[PER][PER] = {};
    for (int first = 0; first < k; first += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            int64_t r = top + i / DEPTH;
            int d = first + i % DEPTH;
            tile_a[i % DEPTH][i / DEPTH] = r < m && d < k ? a[r * k + d] : 0.0f;
        }
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            int64_t s = left + i % TILE;
            int d = first + i / TILE;
            tile_b[i / TILE][i % TILE] = s < n && d < k ? b[int64_t(d) * n + s] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; ++d) {
            float x[PER], y[PER];
            for (int i = 0; i < PER; ++i) x[i] = tile_a[d][row + i * SIDE];
            for (int j = 0; j < PER; ++j) y[j] = tile_b[d][col + j * SIDE];
            for (int i = 0; i < PER; ++i)
                for (int j = 0; j < PER; ++j) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < PER; ++i) {
        for (int j = 0; j < PER; ++j) {
            int64_t r = top + row + i * SIDE, s = left + col + j * SIDE;
            if (r < m && s < n) c[r * n + s] = sum[i][j];
        }
    }
}

torch::Tensor matmul(torch::Tensor a, torch::Tensor b) {
    int m = int(a.size(0)), k = int(a.size(1)), n = int(b.size(1));
    auto c = torch::empty({m, n}, a.options());
    if (c.numel() == 0) return c;
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_kernel<<<blocks, SIDE * SIDE, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
    return c;
}
"""

extension = load_inline(
    name="example_matmul",
    cpp_sources="torch::Tensor matmul(torch::Tensor a, torch::Tensor b);",
    cuda_sources=CUDA,
    functions=["matmul"],
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.matmul(a.contiguous(), b.contiguous())
