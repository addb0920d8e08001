// SPDX-License-Identifier: Apache-2.0
// Classifies host slices as launching, between operators, or other work.
#include "predict/fixes/common/launching.h"

#include "predict/program.h"

namespace gapless::internal {
namespace {

constexpr int64_t kShortOperatorNs = 20'000;  // largest self time of an operator that only launches
constexpr int64_t kShortGapNs =
    500'000;  // longest gap between operators that counts as Python; longer gaps have other causes

bool IsLibraryWork(GpuOpClass gpu_op_class) {
  return IsMatrixWork(gpu_op_class) || gpu_op_class == GpuOpClass::kCommunication;
}

}  // namespace

HostParts::HostParts(const Trace& trace)
    : trace_(&trace),
      launches_(trace.slices.size()),
      libraries_(trace.slices.size()),
      loading_(LoadingSlices(trace)),
      is_own_work_(OwnWork(trace)) {
  const LoadingLaunches code(trace, FindProgram(trace));
  for (uint32_t row = 0; row < loading_.size(); ++row)
    if (code.Has(row)) loading_[row] = 1;
  const GpuOpTable& ops = trace.gpu_ops;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (!ops.launch[op].valid()) continue;
    launched_kernels_ += ops.kind[op] == GpuOpKind::kKernel ? 1 : 0;
    for (SliceId at = ops.launch[op]; at.valid(); at = trace.slices.parent[at.value]) {
      launches_[at.value] = 1;
      if (IsLibraryWork(ops.op_class[op])) libraries_[at.value] = 1;
    }
  }
}

HostPart HostParts::Of(const Edge& edge, int64_t ns) const {
  if (edge.owner == kNoRowValue) return ns < kShortGapNs ? HostPart::kBetween : HostPart::kOther;
  const SliceTable& slices = trace_->slices;
  if (loading_[edge.owner] != 0) return HostPart::kOther;
  switch (slices.category[edge.owner]) {
    case SliceCategory::kRuntime:
    case SliceCategory::kDriver:
      return IsLaunch(slices.api[edge.owner]) && slices.api[edge.owner] != ApiKind::kMemcpy ? HostPart::kLaunching
                                                                                            : HostPart::kOther;
    case SliceCategory::kOperator:
      if (is_own_work_[edge.owner] == 0) return ns < kShortGapNs ? HostPart::kBetween : HostPart::kOther;
      return launches_[edge.owner] != 0 || slices.dur_ns[edge.owner] < kShortOperatorNs ? HostPart::kLaunching
                                                                                        : HostPart::kOther;
    default: return ns < kShortGapNs ? HostPart::kBetween : HostPart::kOther;
  }
}

HostParts FindHostParts(const Trace& trace) { return HostParts(trace); }

}  // namespace gapless::internal
