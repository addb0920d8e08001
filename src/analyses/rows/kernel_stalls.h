// SPDX-License-Identifier: Apache-2.0
// Table kernel_stalls, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelStallsRows : TypedRows<KernelStallsRows> {
  static constexpr std::string_view kName = "kernel_stalls";
  static constexpr std::string_view kHelp = "What the warps of measured kernels wait for (ncu), reason by reason";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"launch_index", kInt, "", "the measured launch, as in kernel_metric"},
      {"kernel_name", kText, "", "name of the kernel, as its profiler prints it"},
      {"stall", kText, "", "reason why a warp does not go on: long_scoreboard, wait, …; selected: it does"},
      {"waits_for", kText, "", "that reason in words; NULL: the warp goes on"},
      {"cycles", kReal, "cycles", "between two instructions of a warp, for that reason"},
      {"share", kReal, "share", "of all cycles between two instructions of a warp"},
  };
};

}  // namespace gapless::internal
