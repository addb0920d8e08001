// SPDX-License-Identifier: Apache-2.0
// Table copies, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CopiesRows : TypedRows<CopiesRows> {
  static constexpr std::string_view kName = "copies";
  static constexpr std::string_view kHelp =
      "Copies and fills by kind: bytes, time, how much no computation hides, bandwidth";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"kind", kText, "", "h2d_pageable, h2d_pinned, h2d_managed, h2d, d2h…, d2d, p2p, memset, other"},
      {"pageable", kInt, "", "1: from or to memory the system may move; 0: pinned; NULL: not said, or not host memory"},
      {"calls", kInt, "", "how many"},
      {"calls_per_step", kReal, "", "NULL: no complete step"},
      {"bytes", kInt, "bytes", "moved or filled; NULL: not recorded"},
      {"total_ns", kInt, "ns", "sum of durations"},
      {"exposed_ns", kInt, "ns", "of the ledger's exposed_copy_ns: some of them ran, and no kernel"},
      {"overlap_share", kReal, "share", "of the time in which some of them ran, a kernel ran too"},
      {"mean_gbps", kReal, "GB/s", "bytes over time, for those with both"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest"},
  };
};

}  // namespace gapless::internal
