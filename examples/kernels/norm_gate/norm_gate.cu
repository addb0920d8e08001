// SPDX-License-Identifier: Apache-2.0
// norm_gate on CUDA. It needs the CUDA toolkit alone:
//   nvcc -std=c++17 -O3 -gencode arch=compute_80,code=sm_80 -c norm_gate.cu
#include "norm_gate.h"

// torch.utils.cpp_extension turns off the conversions of the short types, which this file needs.
#undef __CUDA_NO_HALF_CONVERSIONS__
#undef __CUDA_NO_BFLOAT16_CONVERSIONS__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace norm_gate_kernel {
namespace {

constexpr int kThreads = 256;

// Threads go along rows in x and from row to row in y, so that each finds the start of a row once for many elements.
template <class K>
__global__ void by_element(K kernel) {
  const int64_t columns = kernel.columns(), step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t r = int64_t(blockIdx.y) * blockDim.y + threadIdx.y; r < kernel.a.rows; r += gridDim.y * blockDim.y) {
    typename K::Row row;
    kernel.begin(row, r);
    for (int64_t c = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; c < columns; c += step) kernel.write(row, r, c, 0);
  }
}

// Adds up over the threads of a block; all of them get the sums.
template <class K>
__device__ void combine(typename K::Sums& sums) {
  __shared__ typename K::Sums of_threads[kThreads];
  of_threads[threadIdx.x] = sums;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) K::combine(of_threads[threadIdx.x], of_threads[threadIdx.x + half]);
  }
  __syncthreads();
  sums = of_threads[0];
  __syncthreads();
}

template <int Pass, class K>
__device__ void passes(const K& kernel, typename K::Row& row) {
  if constexpr (Pass < K::kPasses) {
    typename K::Sums sums = K::nothing();
    for (int64_t c = threadIdx.x; c < kernel.a.cols; c += blockDim.x) kernel.template add<Pass>(sums, row, c);
    combine<K>(sums);
    kernel.template end<Pass>(row, sums);
    passes<Pass + 1>(kernel, row);
  }
}

template <class K>
__global__ void by_row(K kernel) {
  for (int64_t r = blockIdx.x; r < kernel.a.rows; r += gridDim.x) {
    typename K::Row row;
    kernel.begin(row, r);
    passes<0>(kernel, row);
    for (int64_t c = threadIdx.x; c < kernel.columns(); c += blockDim.x) kernel.write(row, r, c, blockIdx.x);
    if (threadIdx.x == 0) kernel.write_row(row, r);
  }
}

template <class K>
void launch(const K& kernel, cudaStream_t stream) {
  const int64_t most = 65535 * int64_t(16), parts = kernel.a.parts;
  if (K::kPasses == 0 && parts == 0) {
    const int64_t columns = kernel.columns(), enough = 4096;  // blocks that fill the largest GPU several times
    int along = 1;
    while (along < kThreads && along < columns) along *= 2;
    const dim3 threads(along, kThreads / along);
    const int64_t wide = (columns + threads.x - 1) / threads.x, high = (kernel.a.rows + threads.y - 1) / threads.y;
    const int64_t x = wide < enough ? wide : enough, y = high < enough / x ? high : enough / x;
    by_element<<<dim3(unsigned(x), unsigned(y)), threads, 0, stream>>>(kernel);
  } else {  // a block is a part
    int threads = 32;
    while (threads < kThreads && threads < kernel.a.cols) threads *= 2;
    const int64_t blocks = parts > 0 ? parts : kernel.a.rows < most ? kernel.a.rows : most;
    by_row<<<unsigned(blocks), threads, 0, stream>>>(kernel);
  }
}

template <template <class, class, class, class, bool> class K, bool Dense>
void launch(const Arguments& a, int type, cudaStream_t stream) {
  if (type == 0) launch(K<float, float, float, float, Dense>{a}, stream);
  if (type == 1) launch(K<double, double, double, double, Dense>{a}, stream);
  if (type == 2) launch(K<__half, float, float, float, Dense>{a}, stream);
  if (type == 3) launch(K<__nv_bfloat16, float, float, float, Dense>{a}, stream);
}

}  // namespace
}  // namespace norm_gate_kernel

// Returns null, or what CUDA says is wrong. `which`: 0 forward, 1 backward; `type`: 0 float, 1 double, 2 half, 3 bfloat16.
extern "C" const char* norm_gate_launch(int which, int type, int dense, const norm_gate_kernel::Arguments* arguments, void* stream) {
  using namespace norm_gate_kernel;
  if (arguments->rows * arguments->cols == 0) return nullptr;
  const auto on = static_cast<cudaStream_t>(stream);
  if (which == 0)
    dense ? launch<Forward, true>(*arguments, type, on) : launch<Forward, false>(*arguments, type, on);
  else
    dense ? launch<Backward, true>(*arguments, type, on) : launch<Backward, false>(*arguments, type, on);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
