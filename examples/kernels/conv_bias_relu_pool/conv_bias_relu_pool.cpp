// SPDX-License-Identifier: Apache-2.0
// conv_bias_relu_pool as operators of PyTorch: this file computes them on the host, conv_bias_relu_pool.cu on CUDA.
#include "conv_bias_relu_pool.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <torch/library.h>

#include <algorithm>
#include <vector>

#ifdef WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
extern "C" const char* conv_bias_relu_pool_launch(int which, int type, int dense, const conv_bias_relu_pool_kernel::Arguments* arguments, void* stream);
#endif

namespace conv_bias_relu_pool_kernel {
namespace {

template <int Pass, class K>
void passes(const K& kernel, typename K::Row& row) {
  if constexpr (Pass < K::kPasses) {
    typename K::Sums sums = K::nothing();
    for (int64_t c = 0; c < kernel.a.cols; ++c) kernel.template add<Pass>(sums, row, c);
    kernel.template end<Pass>(row, sums);
    passes<Pass + 1>(kernel, row);
  }
}

// A thread goes through a stretch of rows, and adds up what is folded.
template <class K>
void by_part(const K& kernel) {
  const int64_t rows = kernel.a.rows, parts = kernel.a.parts;
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      for (int64_t r = rows * part / parts; r < rows * (part + 1) / parts; ++r) {
        typename K::Row row{};
        kernel.begin(row, r);
        passes<0>(kernel, row);
#pragma omp simd
        for (int64_t c = 0; c < kernel.columns(); ++c) kernel.write(row, r, c, part);
        kernel.write_row(row, r);
      }
  });
}

// Without sums over rows any stretch of elements is a piece of work; with them whole rows are.
template <class K>
void on_host(const K& kernel) {
  const int64_t cols = kernel.columns(), grain = 8192;
  if (kernel.a.parts > 0) return by_part(kernel);
  if constexpr (K::kPasses == 0) {
    at::parallel_for(0, kernel.a.rows * cols, grain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end;) {
        const int64_t r = at / cols, first = at % cols, last = std::min(cols, first + end - at);
        typename K::Row row{};
        kernel.begin(row, r);
#pragma omp simd
        for (int64_t c = first; c < last; ++c) kernel.write(row, r, c, 0);
        at += last - first;
      }
    });
  } else {
    at::parallel_for(0, kernel.a.rows, std::max<int64_t>(1, grain / std::max<int64_t>(1, cols)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        typename K::Row row{};
        kernel.begin(row, r);
        passes<0>(kernel, row);
#pragma omp simd
        for (int64_t c = 0; c < cols; ++c) kernel.write(row, r, c, 0);
        kernel.write_row(row, r);
      }
    });
  }
}

template <template <class, class, class, class, bool> class K, bool Dense>
void on_host(const Arguments& a, int64_t type) {
  if (type == 0) on_host(K<float, float, float, double, Dense>{a});
  if (type == 1) on_host(K<double, double, double, double, Dense>{a});
  if (type == 2) on_host(K<c10::Half, float, float, double, Dense>{a});
  if (type == 3) on_host(K<c10::BFloat16, float, float, double, Dense>{a});
}

Arguments arguments_of(at::TensorList inputs, at::IntArrayRef places, int64_t rows, int64_t cols,
                       at::ArrayRef<double> scalars, at::TensorList outputs, at::IntArrayRef folded,
                       int64_t parts, at::IntArrayRef plane) {
  Arguments a{};
  TORCH_CHECK(inputs.size() <= 4 && outputs.size() <= 2 && scalars.size() <= 1 &&
              places.size() == 4 * inputs.size(), "conv_bias_relu_pool: not as many tensors and numbers as the kernel takes");
  for (size_t i = 0; i < inputs.size(); ++i) {
    TORCH_CHECK(inputs[i].is_contiguous(), "conv_bias_relu_pool: inputs must be contiguous");
    a.in[i] = inputs[i].const_data_ptr();
    a.place[i] = {places[4 * i], places[4 * i + 1], places[4 * i + 2], places[4 * i + 3]};
  }
  for (size_t i = 0; i < outputs.size(); ++i) a.out[i] = outputs[i].numel() > 0 ? outputs[i].mutable_data_ptr() : nullptr;
  for (size_t i = 0; i < scalars.size(); ++i) a.scalar[i] = scalars[i];
  for (const int64_t output : folded) a.folded[output] = a.out[output] != nullptr;
  a.rows = rows, a.cols = cols, a.parts = folded.empty() ? 0 : parts;
  TORCH_CHECK(plane.size() == 4 && plane[0] * plane[1] == cols && cols <= INT32_MAX,
              "conv_bias_relu_pool: planes need four sizes and at most 2^31 - 1 elements");
  a.down = int(plane[0]), a.across = int(plane[1]), a.results_down = int(plane[2]), a.results_across = int(plane[3]);
  return a;
}

// Tells kernels that may count on an element for each column. An input of one number a row has no columns to ask for.
bool is_dense(const Arguments& a, size_t inputs, int64_t whole) {
  for (size_t i = 0; i < inputs; ++i)
    if (((whole >> i) & 1) == 0 && a.place[i].col != 1) return false;
  return true;
}

constexpr int64_t kRowInputs[] = {2, 2};  // by direction: a bit for each input of one a row

template <int Which>
void run_cpu(at::TensorList inputs, at::IntArrayRef places, int64_t rows, int64_t cols, int64_t type,
             at::ArrayRef<double> scalars, at::TensorList outputs, at::IntArrayRef folded, int64_t parts, at::IntArrayRef plane) {
  const Arguments a = arguments_of(inputs, places, rows, cols, scalars, outputs, folded, parts, plane);
  const bool dense = is_dense(a, inputs.size(), kRowInputs[Which]);
  if constexpr (Which == 0)
    dense ? on_host<Forward, true>(a, type) : on_host<Forward, false>(a, type);
  else
    dense ? on_host<Backward, true>(a, type) : on_host<Backward, false>(a, type);
}

#ifdef WITH_CUDA
template <int Which>
void run_cuda(at::TensorList inputs, at::IntArrayRef places, int64_t rows, int64_t cols, int64_t type,
              at::ArrayRef<double> scalars, at::TensorList outputs, at::IntArrayRef folded, int64_t parts, at::IntArrayRef plane) {
  const c10::cuda::CUDAGuard guard(inputs[0].device());
  const Arguments a = arguments_of(inputs, places, rows, cols, scalars, outputs, folded, parts, plane);
  const bool dense = is_dense(a, inputs.size(), kRowInputs[Which]);
  const char* failure = conv_bias_relu_pool_launch(Which, static_cast<int>(type), dense, &a, c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(failure == nullptr, "conv_bias_relu_pool: ", failure);
}
#endif

constexpr char kSchema[] =
    "(Tensor[] inputs, int[] places, int rows, int cols, int type, float[] scalars, Tensor(a!)[] outputs, "
    "int[] folded, int parts, int[] plane) -> ()";

}  // namespace

TORCH_LIBRARY(conv_bias_relu_pool, m) {
  m.def((std::string("forward") + kSchema).c_str());
  m.def((std::string("backward") + kSchema).c_str());
}
TORCH_LIBRARY_IMPL(conv_bias_relu_pool, CPU, m) {
  m.impl("forward", run_cpu<0>);
  m.impl("backward", run_cpu<1>);
}
#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(conv_bias_relu_pool, CUDA, m) {
  m.impl("forward", run_cuda<0>);
  m.impl("backward", run_cuda<1>);
}
#endif

}  // namespace conv_bias_relu_pool_kernel
