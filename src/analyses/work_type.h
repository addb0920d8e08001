// SPDX-License-Identifier: Apache-2.0
// The kind of work an operator or a kernel does, in the usual terms. Close to TraceLens' categories (GEMM,
// CONV_fwd/bwd, SDPA_fwd/bwd, BN, elementwise, reduce, multi_tensor_apply, triton, other): forward and backward are
// together here, and work of generated kernels goes where their names say instead of into one category.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/enums.h"
#include "trace/trace.h"

namespace gapless::internal {

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

// Returns the work of an operator, by name; kOther if only the kernel shows it. Call once per distinct name.
WorkType WorkTypeOfOperator(std::string_view operator_name);
// Returns the work of a kernel, copy or fill.
WorkType WorkTypeOfClass(GpuOpClass op_class);

// Returns, for each slice, 1 if it is an optimizer's step, or inside one, and not run by its closure
// (optimizer_updates.h).
std::vector<uint8_t> InsideOptimizers(const Trace& trace);
// Returns what launched the operation, for InsideOptimizers: its operator, else the call; invalid: not recorded.
inline SliceId LaunchedBy(const GpuOpTable& ops, size_t row) {
  return ops.op[row].valid() ? ops.op[row] : ops.launch[row];
}

}  // namespace gapless::internal
