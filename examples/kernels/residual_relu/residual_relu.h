// SPDX-License-Identifier: Apache-2.0
// Arithmetic of residual_relu, for host and device.
// aten::add > aten::clamp_min
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

namespace residual_relu_kernel {

// All that a launch needs. An input's element of row r and column c is at ((r / div) % mod) * row + c * col.
struct Arguments {
  struct Place {
    int64_t div, mod, row, col;
  };
  const void* in[3];
  Place place[3];
  void* out[2];  // null: not wanted
  bool folded[2];  // by output: the sum over rows is wanted; one for each part, in type A, begun with 0
  double scalar[1];
  int64_t rows, cols, parts;  // parts: stretches of rows, one after the other in each; 0: nothing is folded
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

// The result.
template <class T, class W, class A, class S, bool Dense>
struct Forward {
  static constexpr int kPasses = 0;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    A n4;
  };
  struct Sums {  // sums that a pass makes
    A none;
  };

  KERNEL_FUNCTION int64_t columns() const { return a.cols; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
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
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
    const A n3 = (n0 + n1);
    const A n5 = A(row.n4 > n3);
    const A n6 = (n5 != A(0) ? row.n4 : n3);
    if (a.out[0] != nullptr) result<T>(a.out[0])[r * a.cols + c] = T(n6);
    (void)row, (void)r, (void)c, (void)part;
  }
  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {
    (void)row, (void)r;
  }
};

// The gradients of the inputs.
template <class T, class W, class A, class S, bool Dense>
struct Backward {
  static constexpr int kPasses = 0;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    int64_t at2;
    A n4;
  };
  struct Sums {  // sums that a pass makes
    A none;
  };

  KERNEL_FUNCTION int64_t columns() const { return a.cols; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
    row.at2 = first_of(a.place[2], r);
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
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
    const A n3 = (n0 + n1);
    const A n5 = A(row.n4 > n3);
    const A n7 = A(tensor<T>(a.in[2])[row.at2 + step(2, c)]);
    const A n9 = (n5 != A(0) ? A(0) : n7);
    if (a.out[0] != nullptr && !a.folded[0]) result<T>(a.out[0])[r * a.cols + c] = T(n9);
    if (a.folded[0]) result<A>(a.out[0])[part * a.cols + c] += n9;
    if (a.out[1] != nullptr && !a.folded[1]) result<T>(a.out[1])[r * a.cols + c] = T(n9);
    if (a.folded[1]) result<A>(a.out[1])[part * a.cols + c] += n9;
    (void)row, (void)r, (void)c, (void)part;
  }
  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {
    (void)row, (void)r;
  }
};

}  // namespace residual_relu_kernel
