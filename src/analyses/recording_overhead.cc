// SPDX-License-Identifier: Apache-2.0
// Adds a fixed cost per slice that depends on the recorder and on its options, such as recorded shapes and stacks.
#include "analyses/recording_overhead.h"

#include <algorithm>

namespace gapless::internal {
namespace {

// CPU time in ns that the recorder adds to each record.
constexpr int64_t kCallNs = 2000;                                                          // a CUDA call
constexpr int64_t kOperatorNs = 200, kShapesNs = 100, kMemoryNs = 100, kStacksNs = 2500;   // Kineto
constexpr int64_t kPythonNs = 800;                                                         // Kineto
constexpr int64_t kRangeNs = 1000, kOperatorRangeNs = 3000, kOperatorWithShapesNs = 8000;  // Nsight Systems

struct Costs {
  int64_t operator_ns = 0, python_ns = 0, call_ns = 0, annotation_ns = 0;
};

Costs CostsOf(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const bool shapes = std::any_of(slices.input_shapes.begin(), slices.input_shapes.end(),
                                  [](StringId text) { return text != StringId::kNone; });
  if (trace.info.format == "nsys")
    return {.operator_ns = shapes ? kOperatorWithShapesNs : kOperatorRangeNs,
            .call_ns = kCallNs,
            .annotation_ns = kRangeNs};
  if (trace.info.format != "kineto") return {};
  const bool stacks =
      std::find(slices.category.begin(), slices.category.end(), SliceCategory::kPython) != slices.category.end();
  return {.operator_ns = kOperatorNs + (shapes ? kShapesNs : 0) + (stacks ? kStacksNs : 0) +
                         (trace.memory_events.size() > 0 ? kMemoryNs : 0),
          .python_ns = kPythonNs,
          .call_ns = kCallNs,
          .annotation_ns = kOperatorNs};
}

}  // namespace

std::vector<int64_t> RecordingOverheadNs(const Trace& trace) {
  const Costs costs = CostsOf(trace);
  std::vector<int64_t> overhead(trace.slices.size());
  for (size_t row = 0; row < overhead.size(); ++row) switch (trace.slices.category[row]) {
      case SliceCategory::kOperator: overhead[row] = costs.operator_ns; break;
      case SliceCategory::kPython: overhead[row] = costs.python_ns; break;
      case SliceCategory::kRuntime: overhead[row] = costs.call_ns; break;
      case SliceCategory::kAnnotation: overhead[row] = costs.annotation_ns; break;
      default: break;
    }
  return overhead;
}

}  // namespace gapless::internal
