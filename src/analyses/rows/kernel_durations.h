// SPDX-License-Identifier: Apache-2.0
// Tables kernel_durations and job_kernels, for their analyses and their readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct KernelDurationsRows : TypedRows<KernelDurationsRows> {
  static constexpr std::string_view kName = "kernel_durations";
  static constexpr std::string_view kHelp =
      "How long a device's kernels take, by name: quantiles, and buckets that merge over ranks";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"kernel", kText, "", "name; only those with a thousandth of the device's kernel time or more"},
      {"calls", kInt, "", "how often it ran"},
      {"total_ns", kInt, "ns", "sum of its durations"},
      {"p50_ns", kInt, "ns", "median, within error"},
      {"p90_ns", kInt, "ns", "nine of ten take no longer, within error"},
      {"p99_ns", kInt, "ns", "99 of 100 take no longer, within error"},
      {"max_ns", kInt, "ns", "longest, exact"},
      {"error", kReal, "", "largest relative error of the quantiles: 0.01, more where durations differ widely"},
      {"buckets", kText, "", "its DDSketch: level, zeros and first bucket, then counts"},
  };
};

struct JobKernelsRows : TypedRows<JobKernelsRows> {
  static constexpr std::string_view kName = "job_kernels";
  static constexpr std::string_view kHelp = "Kernels over all ranks: how long each takes, and on which rank it is slow";
  static constexpr ColumnSpec kColumns[] = {
      {"trace", kInt, "", "the recording with the longest median: key of table trace"},
      {"rank", kInt, "", "its rank; NULL: none recorded"},
      {"kernel", kText, "", "name"},
      {"ranks", kInt, "", "recordings that ran it"},
      {"calls", kInt, "", "how often, over all"},
      {"total_ns", kInt, "ns", "sum of its durations"},
      {"p50_ns", kInt, "ns", "median of all calls, within error"},
      {"p90_ns", kInt, "ns", "nine of ten take no longer, within error"},
      {"p99_ns", kInt, "ns", "99 of 100 take no longer, within error"},
      {"max_ns", kInt, "ns", "longest, exact"},
      {"error", kReal, "", "largest relative error of the quantiles"},
      {"slowest_p50_ns", kInt, "ns", "the median there"},
  };
};

}  // namespace gapless::internal
