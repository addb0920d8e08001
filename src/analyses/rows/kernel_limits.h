// SPDX-License-Identifier: Apache-2.0
// Table kernel_limits, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelLimitsRows : TypedRows<KernelLimitsRows> {
  static constexpr std::string_view kName = "kernel_limits";
  static constexpr std::string_view kHelp =
      "What holds a measured kernel back (ncu), and how much of its time it can cost";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"launch_index", kInt, "", "the measured launch, as in kernel_metric"},
      {"kernel_name", kText, "", "name of the kernel, as its profiler prints it"},
      {"limit", kText, "", "issue_slots, stall, few_warps, unequal_warps, small_grid, part_wave, odd_block, …"},
      {"what", kText, "", "the limit in words, with its numbers"},
      {"saves_share", kReal, "share", "most of the kernel's time that could go"},
      {"advice", kText, "", "something to try"},
  };
};

}  // namespace gapless::internal
