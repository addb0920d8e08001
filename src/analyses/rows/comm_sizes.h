// SPDX-License-Identifier: Apache-2.0
// Table comm_sizes, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CommSizesRows : TypedRows<CommSizesRows> {
  static constexpr std::string_view kName = "comm_sizes";
  static constexpr std::string_view kHelp =
      "Collectives by size of message: time, bandwidth, algorithm, protocol and transport";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"source", kText, "", "benchmark (nccl-tests), recorded (calls with their times) or log (calls without)"},
      {"test", kInt, "", "number of the benchmark's table in its file; NULL: no benchmark"},
      {"kind", kText, "", "all_reduce, all_gather, …; NULL: the benchmark does not say"},
      {"placement", kText, "", "out_of_place or in_place; NULL: not known"},
      {"group_size", kInt, "", "ranks; NULL: not recorded"},
      {"bytes", kInt, "bytes", "size of the message"},
      {"calls", kInt, "", "calls; NULL: the mean of a benchmark"},
      {"dur_ns", kInt, "ns", "mean time of a call; NULL: not recorded"},
      {"algo_gbps", kReal, "GB/s", "algorithm bandwidth: bytes over time"},
      {"bus_gbps", kReal, "GB/s", "bus bandwidth: comparable with the speed of the links"},
      {"wrong", kInt, "", "values that are wrong; NULL: not checked"},
      {"algorithm", kText, "", "RING, TREE, …, where the log names one for this size"},
      {"protocol", kText, "", "LL, LL128 or SIMPLE, likewise"},
      {"channels", kInt, "", "channels that carry it, likewise"},
      {"transport", kText, "", "what most channels of the log go through; NULL: not recorded"},
  };
};

}  // namespace gapless::internal
