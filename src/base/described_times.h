// SPDX-License-Identifier: Apache-2.0
// Describes a time with its statistics: the shape is the same in every document.
#pragma once

#include "base/describe.h"
#include "gapless/summary.h"

namespace gapless::internal {

template <>
struct Described<StepTimes> {
  static constexpr FieldInfo kFields[] = {
      Field<&StepTimes::median>("median", "ns", "median"),
      Field<&StepTimes::p50>("p50", "ns", "50th percentile"),
      Field<&StepTimes::p95>("p95", "ns", "95th percentile"),
      Field<&StepTimes::p99>("p99", "ns", "99th percentile"),
  };
};

}  // namespace gapless::internal
