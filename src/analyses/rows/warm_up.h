// SPDX-License-Identifier: Apache-2.0
// Table warm_up, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct WarmUpRows : TypedRows<WarmUpRows> {
  static constexpr std::string_view kName = "warm_up";
  static constexpr std::string_view kHelp =
      "What the host does once while the GPU waits: loading, first calls, compiling, capturing";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "",
       "compilation: TorchDynamo, Inductor, Triton; capture: of a graph; loading: of a module of kernels; first_call: "
       "a "
       "launch, call or operator that takes far longer than others of its name"},
      {"name", kText, "", "the call, operator or compiler's range as recorded"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"calls", kInt, "", "how many"},
      {"total_ns", kInt, "ns", "host time"},
      {"idle_ns", kInt, "ns", "of it, time in which no device works"},
      {"window_idle_ns", kInt, "ns", "of idle_ns, what lies in the analysed window"},
      {"max_ns", kInt, "ns", "longest"},
      {"slice_id", kInt, "id:slice", "the longest"},
  };
};

}  // namespace gapless::internal
