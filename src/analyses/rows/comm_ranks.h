// SPDX-License-Identifier: Apache-2.0
// Table comm_ranks, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CommRanksRows : TypedRows<CommRanksRows> {
  static constexpr std::string_view kName = "comm_ranks";
  static constexpr std::string_view kHelp =
      "Ranks in recordings of communication alone, by kind: time, bandwidth, waiting for others";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "all_reduce, all_gather, …; NULL: all of the rank"},
      {"calls", kInt, "", "calls with a duration"},
      {"bytes", kInt, "bytes", "sum of message sizes; NULL: not recorded"},
      {"total_ns", kInt, "ns", "sum of their durations"},
      {"bus_gbps", kReal, "GB/s", "bus bandwidth over that time, by the formulas of nccl-tests; NULL: of all kinds"},
      {"compared", kInt, "", "calls that other ranks recorded, too, the first ones left out"},
      {"wait_ns", kInt, "ns", "of those: what they took longer than on the rank that came last; NULL: none compared"},
      {"times_last", kInt, "", "of those: this rank came last, by more than 10 µs"},
      {"caused_ns", kInt, "ns", "waiting of the others in those"},
  };
};

}  // namespace gapless::internal
