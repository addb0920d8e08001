// SPDX-License-Identifier: Apache-2.0
// Table launches, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct LaunchesRows : TypedRows<LaunchesRows> {
  static constexpr std::string_view kName = "launches";
  static constexpr std::string_view kHelp =
      "Launches per device: cost on the host, delay, queueing, how short the kernels are";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"calls", kInt, "", "host calls that launched work"},
      {"graph_calls", kInt, "", "of these, launches of a captured graph"},
      {"gpu_ops", kInt, "", "operations they put on the device"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"call_total_ns", kInt, "ns", "host time in the calls"},
      {"call_mean_ns", kInt, "ns", "mean host time of a call"},
      {"call_p50_ns", kInt, "ns", "median"},
      {"call_p95_ns", kInt, "ns", "95 of 100 calls take at most this"},
      {"delay_p50_ns", kInt, "ns", "from the end of the call to the start of its (first) operation, median"},
      {"delay_p95_ns", kInt, "ns", "95 of 100 wait at most this"},
      {"queued_share", kReal, "share", "of the calls: the device still had work when they returned"},
      {"kernels", kInt, "", "kernels without communication"},
      {"kernel_p50_ns", kInt, "ns", "their median duration"},
      {"short_kernels", kInt, "", "of these, shorter than 10 µs"},
      {"short_kernel_share", kReal, "share", "short kernels of all, by count"},
  };
};

}  // namespace gapless::internal
