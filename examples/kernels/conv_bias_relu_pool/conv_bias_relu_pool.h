// SPDX-License-Identifier: Apache-2.0
// Arithmetic of conv_bias_relu_pool, for host and device.
// aten::add > aten::clamp_min > aten::max_pool2d_with_indices
//
// The kernel works on rows of `cols` elements. T is the type of its main tensors, W a wider one beside it, A the type
// that it computes in, S the one that it sums in. Dense: every tensor has an element for each column.
#pragma once

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define KERNEL_FUNCTION __host__ __device__ inline
#else
#define KERNEL_FUNCTION inline
#endif

namespace conv_bias_relu_pool_kernel {

// All that a launch needs. An input's element of row r and column c is at ((r / div) % mod) * row + c * col.
struct Arguments {
  struct Place {
    int64_t div, mod, row, col;
  };
  const void* in[4];
  Place place[4];
  void* out[2];  // null: not wanted
  bool folded[2];  // by output: the sum over rows is wanted; one for each part, in type A, begun with 0
  double scalar[1];
  int64_t rows, cols, parts;  // parts: stretches of rows, one after the other in each; 0: nothing is folded
  int down, across, results_down, results_across;  // sizes of a row, which is a plane, and of its results
};

#define KERNEL_MATH(name, single) \
  KERNEL_FUNCTION float k_##name(float x) { return single(x); } \
  KERNEL_FUNCTION double k_##name(double x) { return ::name(x); }
KERNEL_MATH(exp, expf)
KERNEL_MATH(expm1, expm1f)
KERNEL_MATH(log, logf)
KERNEL_MATH(log1p, log1pf)
KERNEL_MATH(sqrt, sqrtf)
KERNEL_MATH(tanh, tanhf)
KERNEL_MATH(erf, erff)
KERNEL_MATH(sin, sinf)
KERNEL_MATH(cos, cosf)
#undef KERNEL_MATH
KERNEL_FUNCTION float k_abs(float x) { return fabsf(x); }
KERNEL_FUNCTION double k_abs(double x) { return fabs(x); }
KERNEL_FUNCTION float k_pow(float x, float y) { return powf(x, y); }
KERNEL_FUNCTION double k_pow(double x, double y) { return ::pow(x, y); }

// The place of row r in a tensor. Divisions of 64 bits take a GPU longer than the elements do, so few are made.
KERNEL_FUNCTION int64_t first_of(const Arguments::Place& place, int64_t r) {
  if (place.mod == 1 || place.row == 0) return 0;
  if (r > INT32_MAX || place.div > INT32_MAX) return r / place.div % place.mod * place.row;
  uint32_t at = uint32_t(r);
  if (place.div > 1) at /= uint32_t(place.div);
  if (at >= place.mod) at %= uint32_t(place.mod);
  return at * place.row;
}

template <class T>
KERNEL_FUNCTION const T* tensor(const void* data) { return static_cast<const T*>(data); }
template <class T>
KERNEL_FUNCTION T* result(void* data) { return static_cast<T*>(data); }

// The windows of the max-pooling that ends the chain.
constexpr int kSizeDown = 3, kSizeAcross = 3;
constexpr int kStepDown = 2, kStepAcross = 2;
constexpr int kPaddingDown = 0, kPaddingAcross = 0;
constexpr int kDilationDown = 1, kDilationAcross = 1;

// The largest value of the window of a result, and its place there: the first of equal ones, and the last that is not a
// number, as PyTorch chooses.
template <class A, class K>
KERNEL_FUNCTION A pooled(const K& kernel, const typename K::Row& row, int result, int& place) {
  const Arguments& a = kernel.a;
  const int top = result / a.results_across * kStepDown - kPaddingDown;
  const int left = result % a.results_across * kStepAcross - kPaddingAcross;
  A largest = -A(INFINITY);
  place = -1;
  for (int i = 0; i < kSizeDown; ++i) {
    const int y = top + i * kDilationDown;
    if (y < 0 || y >= a.down) continue;
    for (int j = 0; j < kSizeAcross; ++j) {
      const int x = left + j * kDilationAcross;
      if (x < 0 || x >= a.across) continue;
      const A value = kernel.value(row, int64_t(y) * a.across + x);
      if (place < 0 || value > largest || value != value) largest = value, place = i * kSizeAcross + j;
    }
  }
  return largest;
}

// The gradient of an element of a plane: the sum over the windows that chose it, always in the same order. `input` has
// the gradients of the results, the one behind it their places; `from`: the first result of the plane.
template <class A, class T>
KERNEL_FUNCTION A gathered(const Arguments& a, int input, int64_t from, int64_t element) {
  const T* gradient = tensor<T>(a.in[input]) + from;
  const uint8_t* chosen = tensor<uint8_t>(a.in[input + 1]) + from;
  const int y = int(element) / a.across + kPaddingDown, x = int(element) % a.across + kPaddingAcross;
  A sum = A(0);
  for (int i = 0; i < kSizeDown; ++i) {
    const int down = y - i * kDilationDown;
    if (down < 0 || down % kStepDown != 0 || down / kStepDown >= a.results_down) continue;
    for (int j = 0; j < kSizeAcross; ++j) {
      const int across = x - j * kDilationAcross;
      if (across < 0 || across % kStepAcross != 0 || across / kStepAcross >= a.results_across) continue;
      const int at = down / kStepDown * a.results_across + across / kStepAcross;
      if (chosen[at] == i * kSizeAcross + j) sum += A(gradient[at]);
    }
  }
  return sum;
}

// The result.
template <class T, class W, class A, class S, bool Dense>
struct Forward {
  static constexpr int kPasses = 0;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    A n1;
    A n4;
  };
  struct Sums {  // sums that a pass makes
    A none;
  };

  KERNEL_FUNCTION int64_t columns() const { return int64_t(a.results_down) * a.results_across; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
    row.n1 = A(tensor<T>(a.in[1])[row.at1]);
    row.n4 = A(a.scalar[0]);
  }
  KERNEL_FUNCTION static Sums nothing() {
    Sums sums;
    sums.none = A(0);
    return sums;
  }
  template <int Pass>
  KERNEL_FUNCTION void add(Sums& sums, const Row& row, int64_t c) const {
    (void)sums, (void)row, (void)c;
  }
  KERNEL_FUNCTION static void combine(Sums& sums, const Sums& other) {
    (void)sums, (void)other;
  }
  template <int Pass>
  KERNEL_FUNCTION void end(Row& row, const Sums& sums) const {
    (void)row, (void)sums;
  }
  KERNEL_FUNCTION A value(const Row& row, int64_t c) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n3 = (n0 + row.n1);
    const A n5 = A(row.n4 > n3);
    const A n6 = (n5 != A(0) ? row.n4 : n3);
    (void)row, (void)c;
    return n6;
  }
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t) const {
    int place = 0;
    const A largest = pooled<A>(*this, row, int(c), place);
    result<T>(a.out[0])[r * columns() + c] = T(largest);
    if (a.out[1] != nullptr) result<uint8_t>(a.out[1])[r * columns() + c] = uint8_t(place);
  }
  KERNEL_FUNCTION void write_row(const Row&, int64_t) const {}
};

// The gradients of the inputs.
template <class T, class W, class A, class S, bool Dense>
struct Backward {
  static constexpr int kPasses = 1;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    int64_t at2;
    int64_t at3;
    A n1;
    A n4;
    A n10;
  };
  struct Sums {  // sums that a pass makes
    S n10;
  };

  KERNEL_FUNCTION int64_t columns() const { return a.cols; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
    row.at2 = first_of(a.place[2], r);
    row.at3 = first_of(a.place[3], r);
    row.n1 = A(tensor<T>(a.in[1])[row.at1]);
    row.n4 = A(a.scalar[0]);
  }
  KERNEL_FUNCTION static Sums nothing() {
    Sums sums;
    sums.n10 = S(0);
    return sums;
  }
  template <int Pass>
  KERNEL_FUNCTION void add(Sums& sums, const Row& row, int64_t c) const {
    if constexpr (Pass == 0) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      const A n3 = (n0 + row.n1);
      const A n5 = A(row.n4 > n3);
      const A n7 = gathered<A, T>(a, 2, row.at2, c);
      const A n9 = (n5 != A(0) ? A(0) : n7);
      sums.n10 += S(n9);
    }
    (void)sums, (void)row, (void)c;
  }
  KERNEL_FUNCTION static void combine(Sums& sums, const Sums& other) {
    sums.n10 += other.n10;
    (void)sums, (void)other;
  }
  template <int Pass>
  KERNEL_FUNCTION void end(Row& row, const Sums& sums) const {
    if constexpr (Pass == 0) {
      row.n10 = A(sums.n10);
    }
    (void)row, (void)sums;
  }
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n3 = (n0 + row.n1);
    const A n5 = A(row.n4 > n3);
    const A n7 = gathered<A, T>(a, 2, row.at2, c);
    const A n9 = (n5 != A(0) ? A(0) : n7);
    if (a.out[0] != nullptr && !a.folded[0]) result<T>(a.out[0])[r * a.cols + c] = T(n9);
    if (a.folded[0]) result<A>(a.out[0])[part * a.cols + c] += n9;
    (void)row, (void)r, (void)c, (void)part;
  }
  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {
    if (a.out[1] != nullptr) result<T>(a.out[1])[r] = T(row.n10);
    (void)row, (void)r;
  }
};

}  // namespace conv_bias_relu_pool_kernel
