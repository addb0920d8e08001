// SPDX-License-Identifier: Apache-2.0
// The cost of a slice depends on its category, the recorder, and its options such as recorded shapes and stacks.
#include "analyses/recording_overhead.h"

#include <algorithm>

namespace gapless::internal {
namespace {

// CPU time in ns that the recorder adds to each record.
constexpr int64_t kCallNs = 2000;                                                          // a CUDA call
constexpr int64_t kOperatorNs = 200, kShapesNs = 100, kMemoryNs = 100, kStacksNs = 2500;   // Kineto
constexpr int64_t kPythonNs = 800;                                                         // Kineto
constexpr int64_t kRangeNs = 1000, kOperatorRangeNs = 3000, kOperatorWithShapesNs = 8000;  // Nsight Systems

}  // namespace

RecordingOverhead::RecordingOverhead(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const bool shapes = std::any_of(slices.input_shapes.begin(), slices.input_shapes.end(),
                                  [](StringId text) { return text != StringId::kNone; });
  if (trace.info.format == "nsys") {
    operator_ns_ = shapes ? kOperatorWithShapesNs : kOperatorRangeNs;
    call_ns_ = kCallNs, annotation_ns_ = kRangeNs;
  } else if (trace.info.format == "kineto") {
    const bool stacks =
        std::find(slices.category.begin(), slices.category.end(), SliceCategory::kPython) != slices.category.end();
    operator_ns_ = kOperatorNs + (shapes ? kShapesNs : 0) + (stacks ? kStacksNs : 0) +
                   (trace.memory_events.size() > 0 ? kMemoryNs : 0);
    python_ns_ = kPythonNs, call_ns_ = kCallNs, annotation_ns_ = kOperatorNs;
  }
}

int64_t RecordingOverhead::OfNs(SliceCategory category) const {
  switch (category) {
    case SliceCategory::kOperator: return operator_ns_;
    case SliceCategory::kPython: return python_ns_;
    case SliceCategory::kRuntime: return call_ns_;
    case SliceCategory::kAnnotation: return annotation_ns_;
    default: return 0;
  }
}

}  // namespace gapless::internal
