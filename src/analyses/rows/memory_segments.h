// SPDX-License-Identifier: Apache-2.0
// Table memory_segments, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MemorySegmentsRows : TypedRows<MemorySegmentsRows> {
  static constexpr std::string_view kName = "memory_segments";
  static constexpr std::string_view kHelp =
      "What the allocator held when a memory snapshot was taken, and how it is cut up";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      kDeviceColumn,
      {"segments", kInt, "", "stretches of memory that the allocator got from the driver"},
      {"reserved_bytes", kInt, "bytes", "their sizes"},
      {"active_bytes", kInt, "bytes", "in use by tensors, or by another stream until it is done"},
      {"returnable_bytes", kInt, "bytes", "in segments that hold nothing: torch.cuda.empty_cache() gives them back"},
      {"stuck_bytes", kInt, "bytes", "unused, in segments that hold something: only tensors that fit can use them"},
      {"largest_free_bytes", kInt, "bytes", "largest unused block: the largest tensor that needs no new segment"},
      {"stuck_share", kReal, "share", "stuck_bytes of reserved_bytes"},
      {"oom_events", kInt, "", "allocations that failed in the recording"},
      {"oom_bytes", kInt, "bytes", "size that the last of them asked for; NULL: none failed"},
  };
};

}  // namespace gapless::internal
