// SPDX-License-Identifier: Apache-2.0
// norm_gate as operators of PyTorch: this file computes them on the host, norm_gate.cu on CUDA.
#include "norm_gate.h"

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
extern "C" const char* norm_gate_launch(int which, int type, int dense, const norm_gate_kernel::Arguments* arguments, void* stream);
#endif

namespace norm_gate_kernel {
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
                       int64_t parts) {
  Arguments a{};
  TORCH_CHECK(inputs.size() <= 5 && outputs.size() <= 4 && scalars.size() <= 1 &&
              places.size() == 4 * inputs.size(), "norm_gate: not as many tensors and numbers as the kernel takes");
  for (size_t i = 0; i < inputs.size(); ++i) {
    TORCH_CHECK(inputs[i].is_contiguous(), "norm_gate: inputs must be contiguous");
    a.in[i] = inputs[i].const_data_ptr();
    a.place[i] = {places[4 * i], places[4 * i + 1], places[4 * i + 2], places[4 * i + 3]};
  }
  for (size_t i = 0; i < outputs.size(); ++i) a.out[i] = outputs[i].numel() > 0 ? outputs[i].mutable_data_ptr() : nullptr;
  for (size_t i = 0; i < scalars.size(); ++i) a.scalar[i] = scalars[i];
  for (const int64_t output : folded) a.folded[output] = a.out[output] != nullptr;
  a.rows = rows, a.cols = cols, a.parts = folded.empty() ? 0 : parts;
  return a;
}

// Tells kernels that may count on an element for each column. An input of one number a row has no columns to ask for.
bool is_dense(const Arguments& a, size_t inputs, int64_t whole) {
  for (size_t i = 0; i < inputs; ++i)
    if (((whole >> i) & 1) == 0 && a.place[i].col != 1) return false;
  return true;
}

constexpr int64_t kRowInputs[] = {0, 0};  // by direction: a bit for each input of one a row

template <int Which>
void run_cpu(at::TensorList inputs, at::IntArrayRef places, int64_t rows, int64_t cols, int64_t type,
             at::ArrayRef<double> scalars, at::TensorList outputs, at::IntArrayRef folded, int64_t parts) {
  const Arguments a = arguments_of(inputs, places, rows, cols, scalars, outputs, folded, parts);
  const bool dense = is_dense(a, inputs.size(), kRowInputs[Which]);
  if constexpr (Which == 0)
    dense ? on_host<Forward, true>(a, type) : on_host<Forward, false>(a, type);
  else
    dense ? on_host<Backward, true>(a, type) : on_host<Backward, false>(a, type);
}

#ifdef WITH_CUDA
template <int Which>
void run_cuda(at::TensorList inputs, at::IntArrayRef places, int64_t rows, int64_t cols, int64_t type,
              at::ArrayRef<double> scalars, at::TensorList outputs, at::IntArrayRef folded, int64_t parts) {
  const c10::cuda::CUDAGuard guard(inputs[0].device());
  const Arguments a = arguments_of(inputs, places, rows, cols, scalars, outputs, folded, parts);
  const bool dense = is_dense(a, inputs.size(), kRowInputs[Which]);
  const char* failure = norm_gate_launch(Which, static_cast<int>(type), dense, &a, c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(failure == nullptr, "norm_gate: ", failure);
}
#endif

constexpr char kSchema[] =
    "(Tensor[] inputs, int[] places, int rows, int cols, int type, float[] scalars, Tensor(a!)[] outputs, "
    "int[] folded, int parts) -> ()";

}  // namespace

TORCH_LIBRARY(norm_gate, m) {
  m.def((std::string("forward") + kSchema).c_str());
  m.def((std::string("backward") + kSchema).c_str());
}
TORCH_LIBRARY_IMPL(norm_gate, CPU, m) {
  m.impl("forward", run_cpu<0>);
  m.impl("backward", run_cpu<1>);
}
#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(norm_gate, CUDA, m) {
  m.impl("forward", run_cuda<0>);
  m.impl("backward", run_cuda<1>);
}
#endif

}  // namespace norm_gate_kernel
