// SPDX-License-Identifier: Apache-2.0
// Table optimizer_steps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct OptimizerStepsRows : TypedRows<OptimizerStepsRows> {
  static constexpr std::string_view kName = "optimizer_steps";
  static constexpr std::string_view kHelp =
      "Optimizer.step, zero_grad by optimiser: a loop, foreach or fused; kernels, device time, idle time";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"name", kText, "", "the annotation, e.g. Optimizer.step#SGD.step, Optimizer.zero_grad#SGD.zero_grad"},
      {"implementation", kText, "",
       "by what most kernels are: fused (_fused_, FusedAdam), foreach (_foreach_, multi_tensor), compiled (triton_) or "
       "loop; NULL: it launches none"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"calls", kInt, "", "how often"},
      {"host_ns", kInt, "ns", "host time, without that of a closure"},
      {"kernels", kInt, "", "kernels it launched, without communication"},
      {"kernels_per_call", kReal, "", "mean"},
      {"tensors", kInt, "", "how often one call runs the operator it runs most often: of a loop, about its parameters"},
      {"device_ns", kInt, "ns", "time of these kernels"},
      {"idle_ns", kInt, "ns", "idle time of the device during the calls, mean over the devices; NULL: no device"},
      {"slice_id", kInt, "id:slice", "the longest call"},
  };
};

}  // namespace gapless::internal
