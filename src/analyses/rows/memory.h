// SPDX-License-Identifier: Apache-2.0
// Table memory, for its analysis and its readers.
#pragma once

#include "analyses/typed_rows.h"

namespace gapless::internal {

struct MemoryRows : TypedRows<MemoryRows> {
  static constexpr std::string_view kName = "memory";
  static constexpr std::string_view kHelp =
      "Memory per device: peaks, what the allocator holds unused, allocations per step";
  static constexpr ColumnSpec kColumns[] = {
      kTraceColumn,
      kRankColumn,
      {"device", kInt, "", "device number; NULL: host memory"},
      {"device_bytes", kInt, "bytes", "memory of the device; NULL: not recorded"},
      {"peak_allocated_bytes", kInt, "bytes", "most in use by tensors; NULL: not recorded"},
      {"peak_reserved_bytes", kInt, "bytes", "most held by the allocator; NULL: not recorded, or host memory"},
      {"peak_share", kReal, "share", "peak_reserved_bytes of device_bytes"},
      {"unused_at_peak_bytes", kInt, "bytes", "held but not in use when most was in use: fragmentation and caching"},
      {"peak_growth_bytes", kInt, "bytes", "most in use beyond what was in use when the recording began"},
      {"allocations", kInt, "", "in the complete steps"},
      {"allocations_per_step", kReal, "", "NULL: no complete step"},
      {"allocated_bytes", kInt, "bytes", "their sizes added up"},
      {"allocated_bytes_per_step", kReal, "bytes", "churn: what passes through the allocator; NULL: no complete step"},
      {"memory_event_id", kInt, "id:memory_event", "the event after which most was in use"},
  };
};

}  // namespace gapless::internal
