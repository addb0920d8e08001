// SPDX-License-Identifier: Apache-2.0
// What kind of work an operator or a kernel does, in the words people use of a model. Close to TraceLens' categories
// (GEMM, CONV_fwd/bwd, SDPA_fwd/bwd, BN, elementwise, reduce, multi_tensor_apply, triton, other): forward and backward
// are together here, and work of generated kernels goes where their names say instead of into one category.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/enums.h"

namespace gapless {

enum class WorkType : uint8_t {
  kConv,
  kMatmul,
  kAttention,
  kNorm,
  kActivation,
  kPointwise,
  kReduction,
  kPooling,
  kOptimizer,
  kCopy,
  kCommunication,
  kEmbedding,
  kOther,
};
inline constexpr size_t kWorkTypes = 13;
std::string_view ToString(WorkType type);

// Of an operator, by name; kOther: the name does not tell, ask the kernel. Call once per distinct name.
WorkType WorkTypeOfOperator(std::string_view operator_name);
// Of a kernel, copy or fill.
WorkType WorkTypeOfClass(GpuOpClass op_class);

}  // namespace gapless
