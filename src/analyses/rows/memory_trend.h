// SPDX-License-Identifier: Apache-2.0
// Table memory_trend, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MemoryTrendRows : TypedRows<MemoryTrendRows> {
  static constexpr std::string_view kName = "memory_trend";
  static constexpr std::string_view kHelp =
      "How the memory of the processes, and of each device, grows in the course of the run";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device whose allocator it is; NULL: the host's memory that the run's processes hold"},
      {"samples", kInt, "", "while steps ran"},
      {"span_ns", kInt, "ns", "from the first of them to the last"},
      {"first_bytes", kReal, "bytes", "median of the first quarter of the samples"},
      {"second_bytes", kReal, "bytes", "of the second"},
      {"third_bytes", kReal, "bytes", "of the third"},
      {"last_bytes", kReal, "bytes", "of the last"},
      {"slope_bytes_s", kReal, "bytes/s", "growth after the first quarter: Theil-Sen slope of at most 24 groups"},
      {"rank_correlation", kReal, "", "Kendall's tau of these groups: 1 when each is above all before it"},
      {"bytes_per_step", kReal, "bytes", "slope_bytes_s in the time of a step; NULL: no steps are known"},
      {"free_bytes", kReal, "bytes", "what was free at the end; NULL: not known"},
  };
};

}  // namespace gapless::internal
