// SPDX-License-Identifier: Apache-2.0
// Table rank_steps, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RankStepsRows : TypedRows<RankStepsRows> {
  static constexpr std::string_view kName = "rank_steps";
  static constexpr std::string_view kHelp = "Own work of each device and what it waited for itself, step by step";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"step", kInt, "", "number of the step, complete ones only"},
      {"wall_ns", kInt, "ns", "length of the step's window"},
      {"kernels", kInt, "", "kernels the step launched, without communication"},
      {"kernel_ns", kInt, "ns", "sum of their durations"},
      {"copies_ns", kInt, "ns", "only copies or fills run"},
      {"data_ns", kInt, "ns", "idle while the host waits for the next batch"},
      {"host_ns", kInt, "ns", "idle for any other reason: launches, blocking calls, the host's own work, unknown"},
      {"pause_ns", kInt, "ns", "of that, in the longest single stretch"},
      {"garbage_ns", kInt, "ns", "of that, while Python's garbage collection was recorded"},
  };
};

}  // namespace gapless::internal
