// SPDX-License-Identifier: Apache-2.0
// The arithmetic and the memory traffic an operator needs, from the shapes of its inputs.
//
// A multiplication and an addition are two FLOPs. Bytes: each operand read or written once, which is what a perfect
// cache leaves; real kernels move more. Both are what the operation asks for, not what a kernel happens to do (Winograd
// multiplies less, padding more). Values that do not follow from the recorded inputs are NaN.
//
//   products     2·batch·m·n·k
//   convolution  2·N·K·P·Q·(C/groups)·R·S, the same for the gradient of the input and that of the weight; as a product:
//                m = N·P·Q, n = K/groups, k = C/groups·R·S, batch = groups. Where the stride was not recorded, the
//                shapes of its gradient give it: see kConvolutionGradient
//   attention    forward 2 products over all (causal: half of the) pairs of query and key; backward 4, and one that
//                fused kernels do again (`flops`, not `model_flops`). m, n = lengths, k = head, batch = batch·heads
//   norm, softmax, pointwise   a few per element: what limits them are the bytes
#pragma once

#include <span>
#include <string_view>

#include "analyses/device_peaks.h"
#include "analyses/shapes.h"
#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal {

enum class WorkKind : uint8_t { kGemm, kConv, kAttention, kNorm, kSoftmax, kPointwise };
std::string_view ToString(WorkKind kind);
// Multiplies matrices?
constexpr bool IsMatrixWork(WorkKind kind) { return kind <= WorkKind::kAttention; }

struct Work {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double flops = kNone;        // FLOPs of one call, as executed
  double model_flops = kNone;  // without what is computed a second time
  double bytes = kNone;
  int64_t batch = kAbsent, m = kAbsent, n = kAbsent, k = kAbsent;  // as matrix products
  ElementType type = ElementType::kUnknown;                        // type of the first operand
};

struct WorkFormula {
  std::string_view name;  // name of the operator
  WorkKind kind;
  Work (*work)(const WorkFormula& formula, std::span<const Input> inputs);
  int at[5] = {-1, -1, -1, -1, -1};  // places of the inputs the formula needs; their meaning is its own
  int per_element = 0;               // FLOPs
  std::string_view inputs_of = {};   // calling operator whose inputs to use, if its own inputs do not suffice
};

// (input, grad_output, weight): what its forward pass, the gradient of its input and that of its weight need, each.
inline constexpr std::string_view kConvolutionGradient = "aten::cudnn_convolution_backward";
Work WorkOfConvolution(std::span<const Input> gradient_inputs);

// nullptr: how much such an operator computes is not known.
const WorkFormula* FindWorkFormula(std::string_view operator_name);

// Dense peak in TFLOP/s for operands of `type`: of the tensor cores for matrix work that runs on them (float32 as TF32
// on NVIDIA), of the ordinary units for all other work. NaN if the kernels' unit or its peak is not known.
double PeakTflops(const DevicePeaks& peaks, WorkKind kind, ElementType type, MatrixUnit unit);

}  // namespace gapless::internal
