// SPDX-License-Identifier: Apache-2.0
// Table memory_at_peak, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MemoryAtPeakRows : TypedRows<MemoryAtPeakRows> {
  static constexpr std::string_view kName = "memory_at_peak";
  static constexpr std::string_view kHelp =
      "Device memory that is in use at the peak, by what it holds and who made it";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"category", kText, "", "parameter, gradient, optimizer_state, activation or temporary; NULL: not known"},
      {"source_line", kText, "", "innermost line of the program itself; NULL: made before the recording, or not known"},
      {"function", kText, "", "function of that line"},
      {"blocks", kInt, "", "blocks; NULL: made before the recording and freed in it, so their number is not known"},
      {"bytes", kInt, "bytes", "their sizes"},
      {"share", kReal, "share", "of what is in use at the peak"},
      {"stack_id", kInt, "id:stack", "the stack of the largest of these blocks"},
  };
};

}  // namespace gapless::internal
