// SPDX-License-Identifier: Apache-2.0
// Table memory_savings, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MemorySavingsRows : TypedRows<MemorySavingsRows> {
  static constexpr std::string_view kName = "memory_savings";
  static constexpr std::string_view kHelp = "Device memory that changes would free at the peak, each alone";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"change", kText, "",
       "checkpoint, amp, offload (of activations), offload_optimizer or allocator (segments that can be extended)"},
      {"peak_bytes", kInt, "bytes", "in use at the peak; allocator: held by it then"},
      {"held_bytes", kInt, "bytes", "of it, what the change is about; allocator: what is not in use"},
      {"freed_bytes", kInt, "bytes", "of that, what the change frees"},
      {"share", kReal, "share", "freed_bytes of peak_bytes"},
      {"peak_drop_bytes", kInt, "bytes",
       "most by which the highest moment falls, since another one becomes it; NULL: not known"},
      {"bound", kText, "", "estimate, or most: where more is not known, no more than that"},
      {"modules", kInt, "", "checkpoint: calls of modules that are computed again; NULL: stacks do not tell them"},
      {"source_line", kText, "", "line of the program that calls those of them that free most; NULL: as above"},
  };
};

}  // namespace gapless::internal
