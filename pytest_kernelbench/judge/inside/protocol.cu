// The kernels of the timed batch: gate, generator, digest. Compiled by NVRTC; needs no header.
//
// A batch is a chain: the inputs of call i are made under key k_i; k_(i+1) follows from k_i and the digest of *all* bytes
// of output i. So nothing about inputs i+1 can be known before output i exists.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct Control {  // host memory, shared with the referee
  volatile u64 go;       // the number of the batch whose key is given (referee writes)
  volatile u64 key[2];   // its first key (referee writes)
  volatile u64 done;     // calls of the batch that are finished (we write)
  volatile u64 spare[4];
  volatile u64 digests[1][2];  // as many as the batch has calls
};

struct State {  // device memory of this process
  u64 key[2];
  u64 sum[2];
  u32 blocks;
  u32 spare;
};

// The finaliser of MurmurHash3 (Austin Appleby, public domain): every bit of x moves every bit of the result.
__device__ __forceinline__ u64 mix(u64 x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

__device__ __forceinline__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// Waits until the referee gives the key of batch `number`; gives up after `patience_ns` so that no orphan spins for ever.
extern "C" __global__ void kb_gate(Control* control, State* state, u64 number, u64 patience_ns) {
  u64 start = now_ns();
  while (control->go != number && now_ns() - start < patience_ns) {
  }
  __threadfence_system();
  state->key[0] = control->key[0];
  state->key[1] = control->key[1];
  state->sum[0] = state->sum[1] = 0;
  state->blocks = 0;
}

__device__ __forceinline__ float half_to_float(u16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
__device__ __forceinline__ u16 float_to_half(float f) {
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
__device__ __forceinline__ float bf16_to_float(u16 h) { return __uint_as_float((u32)h << 16); }
__device__ __forceinline__ u16 float_to_bf16(float f) {
  u32 x = __float_as_uint(f);
  if ((x & 0x7fffffffu) > 0x7f800000u) return (u16)((x >> 16) | 0x40);  // a NaN stays one
  return (u16)((x + 0x7fffu + ((x >> 16) & 1)) >> 16);
}

// A factor in [0.75, 1.25) for place `at`: 24 bits of a keyed hash.
__device__ __forceinline__ float factor(u64 k0, u64 k1, u64 at) {
  return 0.75f + 0.5f * 5.9604644775390625e-8f * (float)(u32)(mix((at + k0) * 0x9e3779b97f4a7c15ULL ^ k1) >> 40);
}

// A factor in [0.6, 1.0) for the whole tensor: means and sums over many elements must differ from call to call, too.
__device__ __forceinline__ float whole(u64 k0, u64 k1) {
  return 0.6f + 0.4f * 5.9604644775390625e-8f * (float)(u32)(mix(k0 ^ mix(k1 + 0x9e3779b97f4a7c15ULL)) >> 40);
}

enum Mode { COPY = 0, SCALE = 1, SYMMETRIC = 2, PICK = 3, MIX = 4 };
enum Kind { OTHER = 0, F32 = 1, F64 = 2, F16 = 3, BF16 = 4 };

__device__ __forceinline__ double load_real(const u8* p, u32 kind, u64 i) {
  if (kind == F32) return ((const float*)p)[i];
  if (kind == F64) return ((const double*)p)[i];
  if (kind == F16) return half_to_float(((const u16*)p)[i]);
  return bf16_to_float(((const u16*)p)[i]);
}
__device__ __forceinline__ void store_real(u8* p, u32 kind, u64 i, double x) {
  if (kind == F32) ((float*)p)[i] = (float)x;
  if (kind == F64) ((double*)p)[i] = x;
  if (kind == F16) ((u16*)p)[i] = float_to_half((float)x);
  if (kind == BF16) ((u16*)p)[i] = float_to_bf16((float)x);
}

// One input of one call. `size` counts elements (SCALE, SYMMETRIC, MIX) or bytes (COPY, PICK).
extern "C" __global__ void kb_generate(u8* out, const u8* base, u64 size, u32 mode, u32 kind, u64 last, u64 row_bytes,
                                       u64 variant_bytes, u32 variants, u32 tensor, const State* state) {
  u64 k0 = state->key[0] + 0x632be59bd9b4e019ULL * (tensor + 1), k1 = state->key[1];
  u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
  if (mode == COPY || mode == PICK) {
    bool wide = row_bytes % 16 == 0 && variant_bytes % 16 == 0;
    u64 unit = wide ? 16 : 1;
    for (u64 i = first; i < size / unit; i += step) {
      u64 byte = i * unit;
      u64 variant = mode == PICK ? mix((byte / row_bytes + k0) * 0x9e3779b97f4a7c15ULL ^ k1) % variants : 0;
      const u8* from = base + variant * variant_bytes + byte;
      if (wide)
        *(uint4*)(out + byte) = *(const uint4*)from;
      else
        out[byte] = *from;
    }
    return;
  }
  if (mode == MIX) {  // rows that sum to one still do: a share of one draw's row, the rest of another's
    for (u64 i = first; i < size; i += step) {
      u64 h = mix((i / last + k0) * 0x9e3779b97f4a7c15ULL ^ k1);
      u64 one = h % variants, other = (one + 1 + (h >> 8) % (variants - 1)) % variants;
      double share = 0.25 + 0.5 * 5.9604644775390625e-8 * (double)(h >> 40);
      double a = load_real(base + one * variant_bytes, kind, i), b = load_real(base + other * variant_bytes, kind, i);
      store_real(out, kind, i, share * a + (1.0 - share) * b);
    }
    return;
  }
  float all = whole(k0, k1);
  if (mode == SCALE && kind == F32) {  // the usual case, four elements at a time
    u64 quads = size / 4;
    for (u64 i = first; i < quads; i += step) {
      float4 v = ((const float4*)base)[i];
      v.x *= all * factor(k0, k1, 4 * i);
      v.y *= all * factor(k0, k1, 4 * i + 1);
      v.z *= all * factor(k0, k1, 4 * i + 2);
      v.w *= all * factor(k0, k1, 4 * i + 3);
      ((float4*)out)[i] = v;
    }
    for (u64 i = 4 * quads + first; i < size; i += step) ((float*)out)[i] = ((const float*)base)[i] * (all * factor(k0, k1, i));
    return;
  }
  for (u64 i = first; i < size; i += step) {
    u64 at = i;
    if (mode == SYMMETRIC) {
      u64 col = i % last, row = i / last % last, matrix = i / (last * last);
      at = matrix * last * last + (row < col ? row * last + col : col * last + row);
    }
    float f = all * factor(k0, k1, at);
    if (kind == F32) ((float*)out)[i] = ((const float*)base)[i] * f;
    if (kind == F64) ((double*)out)[i] = ((const double*)base)[i] * (double)f;
    if (kind == F16) ((u16*)out)[i] = float_to_half(half_to_float(((const u16*)base)[i]) * f);
    if (kind == BF16) ((u16*)out)[i] = float_to_bf16(bf16_to_float(((const u16*)base)[i]) * f);
  }
}

__device__ __forceinline__ void load16(const u8* p, u64 left, bool aligned, u64& a, u64& b) {
  if (aligned && left >= 16) {
    ulonglong2 v = *(const ulonglong2*)p;
    a = v.x;
    b = v.y;
    return;
  }
  a = b = 0;
  for (int i = 0; i < 8 && i < left; i++) a |= (u64)p[i] << (8 * i);
  for (int i = 8; i < 16 && i < left; i++) b |= (u64)p[i] << (8 * (i - 8));
}

// Adds the keyed, non-linear hash of every 16 bytes at their place. Over a buffer of noise, larger than the L2 cache and
// itself a leaf of the digest, it is the cache flush: who skips or shortens it does not know the digest. With `finish` the sums become the digest of `call`,
// the referee is told, and the next key follows.
extern "C" __global__ void kb_digest(const u8* data, u64 size, u64 first_chunk, u32 leaf, u32 finish, u64 call,
                                     State* state, Control* control) {
  u64 k0 = state->key[0], k1 = state->key[1];
  u64 s0 = 0, s1 = 0;
  u64 chunks = (size + 15) / 16;
  bool aligned = ((u64)data & 15) == 0;
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < chunks; i += step) {
    u64 a, b;
    load16(data + 16 * i, size - 16 * i, aligned, a, b);
    u64 place = (first_chunk + i) * 0x9e3779b97f4a7c15ULL + ((u64)leaf << 56);
    u64 x = mix(a + k0 + place);
    u64 y = mix((x ^ b) + k1);
    s0 += y;
    s1 += mix(y + a + place);
  }
  for (int offset = 16; offset; offset >>= 1) {
    s0 += __shfl_down_sync(0xffffffffu, s0, offset);
    s1 += __shfl_down_sync(0xffffffffu, s1, offset);
  }
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(&state->sum[0], s0);
    atomicAdd(&state->sum[1], s1);
  }
  if (!finish) return;
  __shared__ bool last_block;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last_block = atomicAdd(&state->blocks, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last_block || threadIdx.x) return;
  __threadfence();
  u64 c0 = mix(atomicAdd(&state->sum[0], 0ULL) + k0), c1 = mix(atomicAdd(&state->sum[1], 0ULL) + k1);
  control->digests[call][0] = c0;
  control->digests[call][1] = c1;
  u64 n0 = mix(k0 + c0 * 0x9e3779b97f4a7c15ULL);
  state->key[0] = n0;
  state->key[1] = mix((k1 ^ c1) + n0);
  state->sum[0] = state->sum[1] = 0;
  state->blocks = 0;
  __threadfence_system();
  control->done = call + 1;
}

struct Findings {
  u64 wrong;
  u64 max_abs;  // the bits of a non-negative double: they order as the numbers do
  double squares;
  u64 finite;
};

__device__ __forceinline__ bool is_finite(double x) { return (__double_as_longlong(x) & 0x7ff0000000000000LL) != 0x7ff0000000000000LL; }

// How `got` differs from `expected`, in one pass: the oracle's quick look at outputs of gigabytes.
extern "C" __global__ void kb_compare(const u8* got, const u8* expected, u64 size, u32 got_kind, u32 expected_kind,
                                      double atol, double rtol, Findings* findings) {
  u64 wrong = 0, finite = 0;
  double worst = 0, squares = 0;
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < size; i += step) {
    double a = load_real(got, got_kind, i), b = load_real(expected, expected_kind, i);
    bool fa = is_finite(a), fb = is_finite(b);
    if (fb) {
      squares += b * b;
      finite++;
    }
    if (fa && fb) {
      double error = a > b ? a - b : b - a;
      worst = error > worst ? error : worst;
      wrong += error > atol + rtol * (b < 0 ? -b : b);
    } else if (a != b && !(a != a && b != b)) {
      wrong++;
    }
  }
  for (int offset = 16; offset; offset >>= 1) {
    wrong += __shfl_down_sync(0xffffffffu, wrong, offset);
    finite += __shfl_down_sync(0xffffffffu, finite, offset);
    squares += __shfl_down_sync(0xffffffffu, squares, offset);
    double other = __shfl_down_sync(0xffffffffu, worst, offset);
    worst = other > worst ? other : worst;
  }
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(&findings->wrong, wrong);
    atomicAdd(&findings->finite, finite);
    atomicAdd(&findings->squares, squares);
    atomicMax(&findings->max_abs, (u64)__double_as_longlong(worst));
  }
}
