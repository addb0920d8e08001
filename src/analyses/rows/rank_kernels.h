// SPDX-License-Identifier: Apache-2.0
// Table rank_kernels, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct RankKernelsRows : TypedRows<RankKernelsRows> {
  static constexpr std::string_view kName = "rank_kernels";
  static constexpr std::string_view kHelp = "Kernels of each device's own work (rank_work) by name";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"kernel", kText, "", "name"},
      {"calls", kInt, "", "kernels of that name"},
      {"total_ns", kInt, "ns", "sum of their durations"},
      {"blocks", kInt, "", "thread blocks they were launched with; NULL: not recorded of all"},
  };
};

}  // namespace gapless::internal
