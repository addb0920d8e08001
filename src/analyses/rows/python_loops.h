// SPDX-License-Identifier: Apache-2.0
// Table python_loops, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct PythonLoopsRows : TypedRows<PythonLoopsRows> {
  static constexpr std::string_view kName = "python_loops";
  static constexpr std::string_view kHelp =
      "Short sequences of operators that the program repeats in a row: loops over tensors";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"pattern", kText, "", "the operators of one repetition, e.g. aten::select > aten::mul > aten::add_"},
      {"source_line", kText, "", "line of the user's code, when stacks were recorded"},
      {"annotation", kText, "", "innermost annotation around the longest that is not the step"},
      {"loops", kInt, "", "how often the loop ran"},
      {"loops_per_step", kReal, "", "NULL: no complete step"},
      {"repeats", kInt, "", "repetitions of the longest"},
      {"calls", kInt, "", "operators called in all of them"},
      {"host_ns", kInt, "ns", "host time from the first operator to the last"},
      {"gpu_ops", kInt, "", "operations they put on a device"},
      {"device_ns", kInt, "ns", "their time"},
      {"idle_ns", kInt, "ns", "idle time of the device meanwhile, mean over the devices; NULL: no device"},
      {"slice_id", kInt, "id:slice", "first operator of the longest"},
  };
};

}  // namespace gapless::internal
