// SPDX-License-Identifier: Apache-2.0
// Table communication, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct CommunicationRows : TypedRows<CommunicationRows> {
  static constexpr std::string_view kName = "communication";
  static constexpr std::string_view kHelp =
      "Communication per device, whole and by kind: time, how much is exposed, bandwidth";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: on the host"},
      {"kind", kText, "", "all_reduce, all_gather, …; NULL: all communication of the device"},
      {"calls", kInt, "", "kernels, or host calls where the backend has none"},
      {"bytes", kInt, "bytes", "sum of message sizes; NULL: not recorded"},
      {"total_ns", kInt, "ns", "time in which any of them ran"},
      {"exposed_ns", kInt, "ns", "of that, time in which no kernel computed; NULL on the host"},
      {"overlap_share", kReal, "share", "of total_ns hidden under computation"},
      {"wall_share", kReal, "share", "total_ns of the analysed window"},
      {"bus_gbps", kReal, "GB/s",
       "bus bandwidth over the time, by the formulas of nccl-tests; NULL: sizes not recorded"},
      {"gpu_op_id", kInt, "id:gpu_op", "the longest; NULL on the host"},
  };
};

}  // namespace gapless::internal
