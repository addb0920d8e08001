// SPDX-License-Identifier: Apache-2.0
// Arithmetic of norm_gate, for host and device.
// aten::native_layer_norm > aten::sigmoid > aten::mul
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

namespace norm_gate_kernel {

// All that a launch needs. An input's element of row r and column c is at ((r / div) % mod) * row + c * col.
struct Arguments {
  struct Place {
    int64_t div, mod, row, col;
  };
  const void* in[5];
  Place place[5];
  void* out[4];  // null: not wanted
  bool folded[4];  // by output: the sum over rows is wanted; one for each part, in type A, begun with 0
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
  static constexpr int kPasses = 2;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    int64_t at2;
    int64_t at3;
    A n3;
    A n6;
    A n7;
    A n11;
    A n12;
    A n13;
    A n4;
    A n10;
  };
  struct Sums {  // sums that a pass makes
    S n4;
    S n10;
  };

  KERNEL_FUNCTION int64_t columns() const { return a.cols; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
    row.at2 = first_of(a.place[2], r);
    row.at3 = first_of(a.place[3], r);
    row.n3 = A(a.scalar[0]);
    row.n6 = A(a.cols);
  }
  KERNEL_FUNCTION static Sums nothing() {
    Sums sums;
    sums.n4 = S(0);
    sums.n10 = S(0);
    return sums;
  }
  template <int Pass>
  KERNEL_FUNCTION void add(Sums& sums, const Row& row, int64_t c) const {
    if constexpr (Pass == 0) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      sums.n4 += S(n0);
    }
    if constexpr (Pass == 1) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      const A n8 = (n0 - row.n7);
      const A n9 = (n8 * n8);
      sums.n10 += S(n9);
    }
    (void)sums, (void)row, (void)c;
  }
  KERNEL_FUNCTION static void combine(Sums& sums, const Sums& other) {
    sums.n4 += other.n4;
    sums.n10 += other.n10;
    (void)sums, (void)other;
  }
  template <int Pass>
  KERNEL_FUNCTION void end(Row& row, const Sums& sums) const {
    if constexpr (Pass == 0) {
      row.n4 = A(sums.n4);
    row.n7 = (row.n4 / row.n6);
    }
    if constexpr (Pass == 1) {
      row.n10 = A(sums.n10);
    row.n11 = (row.n10 / row.n6);
    row.n12 = (row.n3 + row.n11);
    row.n13 = (A(1) / k_sqrt(row.n12));
    }
    (void)row, (void)sums;
  }
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
    const A n2 = A(tensor<T>(a.in[2])[row.at2 + step(2, c)]);
    const A n8 = (n0 - row.n7);
    const A n14 = (n8 * row.n13);
    const A n15 = (n1 * n14);
    const A n16 = (n2 + n15);
    const A n17 = (A(1) / (A(1) + k_exp(-n16)));
    const A n18 = A(tensor<T>(a.in[3])[row.at3 + step(3, c)]);
    const A n19 = (n17 * n18);
    if (a.out[0] != nullptr) result<T>(a.out[0])[r * a.cols + c] = T(n19);
    (void)row, (void)r, (void)c, (void)part;
  }
  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {
    (void)row, (void)r;
  }
};

// The gradients of the inputs.
template <class T, class W, class A, class S, bool Dense>
struct Backward {
  static constexpr int kPasses = 4;
  Arguments a;

  struct Row {  // values that are one a row
    int64_t at0;
    int64_t at1;
    int64_t at2;
    int64_t at3;
    int64_t at4;
    A n3;
    A n6;
    A n7;
    A n11;
    A n12;
    A n13;
    A n33;
    A n34;
    A n35;
    A n36;
    A n42;
    A n4;
    A n10;
    A n30;
    A n41;
  };
  struct Sums {  // sums that a pass makes
    S n4;
    S n10;
    S n30;
    S n41;
  };

  KERNEL_FUNCTION int64_t columns() const { return a.cols; }  // that a row writes
  KERNEL_FUNCTION int64_t step(int input, int64_t c) const { return Dense ? c : c * a.place[input].col; }

  KERNEL_FUNCTION void begin(Row& row, int64_t r) const {
    row.at0 = first_of(a.place[0], r);
    row.at1 = first_of(a.place[1], r);
    row.at2 = first_of(a.place[2], r);
    row.at3 = first_of(a.place[3], r);
    row.at4 = first_of(a.place[4], r);
    row.n3 = A(a.scalar[0]);
    row.n6 = A(a.cols);
  }
  KERNEL_FUNCTION static Sums nothing() {
    Sums sums;
    sums.n4 = S(0);
    sums.n10 = S(0);
    sums.n30 = S(0);
    sums.n41 = S(0);
    return sums;
  }
  template <int Pass>
  KERNEL_FUNCTION void add(Sums& sums, const Row& row, int64_t c) const {
    if constexpr (Pass == 0) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      sums.n4 += S(n0);
    }
    if constexpr (Pass == 1) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      const A n8 = (n0 - row.n7);
      const A n9 = (n8 * n8);
      sums.n10 += S(n9);
    }
    if constexpr (Pass == 2) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
      const A n2 = A(tensor<T>(a.in[2])[row.at2 + step(2, c)]);
      const A n8 = (n0 - row.n7);
      const A n14 = (n8 * row.n13);
      const A n15 = (n1 * n14);
      const A n16 = (n2 + n15);
      const A n17 = (A(1) / (A(1) + k_exp(-n16)));
      const A n18 = A(tensor<T>(a.in[3])[row.at3 + step(3, c)]);
      const A n20 = A(tensor<T>(a.in[4])[row.at4 + step(4, c)]);
      const A n21 = (n18 * n20);
      const A n23 = (n17 * n21);
      const A n24 = (A(1) - n17);
      const A n25 = (n23 * n24);
      const A n27 = (n1 * n25);
      const A n29 = (n8 * n27);
      sums.n30 += S(n29);
    }
    if constexpr (Pass == 3) {
      const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
      const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
      const A n2 = A(tensor<T>(a.in[2])[row.at2 + step(2, c)]);
      const A n8 = (n0 - row.n7);
      const A n14 = (n8 * row.n13);
      const A n15 = (n1 * n14);
      const A n16 = (n2 + n15);
      const A n17 = (A(1) / (A(1) + k_exp(-n16)));
      const A n18 = A(tensor<T>(a.in[3])[row.at3 + step(3, c)]);
      const A n20 = A(tensor<T>(a.in[4])[row.at4 + step(4, c)]);
      const A n21 = (n18 * n20);
      const A n23 = (n17 * n21);
      const A n24 = (A(1) - n17);
      const A n25 = (n23 * n24);
      const A n27 = (n1 * n25);
      const A n28 = (row.n13 * n27);
      const A n37 = (n8 * row.n36);
      const A n38 = (n28 + n37);
      const A n39 = (n37 + n38);
      const A n40 = (-n39);
      sums.n41 += S(n40);
    }
    (void)sums, (void)row, (void)c;
  }
  KERNEL_FUNCTION static void combine(Sums& sums, const Sums& other) {
    sums.n4 += other.n4;
    sums.n10 += other.n10;
    sums.n30 += other.n30;
    sums.n41 += other.n41;
    (void)sums, (void)other;
  }
  template <int Pass>
  KERNEL_FUNCTION void end(Row& row, const Sums& sums) const {
    if constexpr (Pass == 0) {
      row.n4 = A(sums.n4);
    row.n7 = (row.n4 / row.n6);
    }
    if constexpr (Pass == 1) {
      row.n10 = A(sums.n10);
    row.n11 = (row.n10 / row.n6);
    row.n12 = (row.n3 + row.n11);
    row.n13 = (A(1) / k_sqrt(row.n12));
    }
    if constexpr (Pass == 2) {
      row.n30 = A(sums.n30);
    row.n33 = (row.n30 * A(-0.5));
    row.n34 = (row.n13 * row.n33);
    row.n35 = (row.n34 / row.n12);
    row.n36 = (row.n35 / row.n6);
    }
    if constexpr (Pass == 3) {
      row.n41 = A(sums.n41);
    row.n42 = (row.n41 / row.n6);
    }
    (void)row, (void)sums;
  }
  KERNEL_FUNCTION void write(const Row& row, int64_t r, int64_t c, int64_t part) const {
    const A n0 = A(tensor<T>(a.in[0])[row.at0 + step(0, c)]);
    const A n1 = A(tensor<T>(a.in[1])[row.at1 + step(1, c)]);
    const A n2 = A(tensor<T>(a.in[2])[row.at2 + step(2, c)]);
    const A n8 = (n0 - row.n7);
    const A n14 = (n8 * row.n13);
    const A n15 = (n1 * n14);
    const A n16 = (n2 + n15);
    const A n17 = (A(1) / (A(1) + k_exp(-n16)));
    const A n18 = A(tensor<T>(a.in[3])[row.at3 + step(3, c)]);
    const A n20 = A(tensor<T>(a.in[4])[row.at4 + step(4, c)]);
    const A n21 = (n18 * n20);
    const A n22 = (n17 * n20);
    const A n23 = (n17 * n21);
    const A n24 = (A(1) - n17);
    const A n25 = (n23 * n24);
    const A n26 = (n14 * n25);
    const A n27 = (n1 * n25);
    const A n28 = (row.n13 * n27);
    const A n37 = (n8 * row.n36);
    const A n38 = (n28 + n37);
    const A n39 = (n37 + n38);
    const A n43 = (n39 + row.n42);
    if (a.out[0] != nullptr && !a.folded[0]) result<T>(a.out[0])[r * a.cols + c] = T(n43);
    if (a.folded[0]) result<A>(a.out[0])[part * a.cols + c] += n43;
    if (a.out[1] != nullptr && !a.folded[1]) result<T>(a.out[1])[r * a.cols + c] = T(n26);
    if (a.folded[1]) result<A>(a.out[1])[part * a.cols + c] += n26;
    if (a.out[2] != nullptr && !a.folded[2]) result<T>(a.out[2])[r * a.cols + c] = T(n25);
    if (a.folded[2]) result<A>(a.out[2])[part * a.cols + c] += n25;
    if (a.out[3] != nullptr && !a.folded[3]) result<T>(a.out[3])[r * a.cols + c] = T(n22);
    if (a.folded[3]) result<A>(a.out[3])[part * a.cols + c] += n22;
    (void)row, (void)r, (void)c, (void)part;
  }
  KERNEL_FUNCTION void write_row(const Row& row, int64_t r) const {
    (void)row, (void)r;
  }
};

}  // namespace norm_gate_kernel
