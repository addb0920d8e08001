// SPDX-License-Identifier: Apache-2.0
// Table host_code, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct HostCodeRows : TypedRows<HostCodeRows> {
  static constexpr std::string_view kName = "host_code";
  static constexpr std::string_view kHelp = "Where the host is, by profiles of any tool: code, data loading, waits";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"kind", kText, "", "how it was measured: sample, cprofile, lines, scalene, proton or perf's way in nsys"},
      {"activity", kText, "", "code, loading (data), gpu_wait, waiting, or kernel (time of the GPU)"},
      {"function", kText, "", "innermost function of the user's code, or innermost of all; NULL: a line alone"},
      {"file", kText, "", "its file or module"},
      {"line", kInt, "", "the line that ran, where it was recorded, else where the function begins"},
      {"is_users", kInt, "", "1: in the user's code; 0: in a library, or built in"},
      {"samples", kInt, "", "samples; NULL: not sampled, or each stands for a time"},
      {"time_ns", kInt, "ns", "time; NULL: samples stand for no known time"},
      {"share", kReal, "share", "of all rows of this trace"},
  };
};

}  // namespace gapless::internal
