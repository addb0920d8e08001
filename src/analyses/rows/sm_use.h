// SPDX-License-Identifier: Apache-2.0
// Table sm_use, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct SmUseRows : TypedRows<SmUseRows> {
  static constexpr std::string_view kName = "sm_use";
  static constexpr std::string_view kHelp =
      "How much of each device the kernels' grids fill: estimated SM efficiency and occupancy";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"sm_efficiency", kReal, "", "0–1: multiprocessors with blocks, mean over the analysed time; NULL: not recorded"},
      {"occupancy_pct", kReal, "percent", "recorder's estimate of achieved occupancy, weighted by duration"},
      {"long_kernel_ns", kInt, "ns", "time in which kernels of 10 µs and longer run, without communication"},
      {"long_sm_share", kReal, "share", "multiprocessors with blocks, mean over that time; NULL: not recorded"},
      {"long_unfilled_ns", kInt, "ns", "that time, times the share of multiprocessors without blocks"},
      {"coverage_share", kReal, "share", "of the time of kernels, of those whose blocks were recorded"},
  };
};

}  // namespace gapless::internal
