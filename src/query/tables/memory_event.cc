// SPDX-License-Identifier: Apache-2.0
// SQL table memory_event: allocations and frees by the framework's allocator. Frees have negative bytes, so that a
// running sum is the change of the memory in use.
#include <algorithm>

#include "query/cells.h"

namespace gapless::internal::memory_event_sqltable {
namespace {

// Numbered as the framework does: 0 is the host, 1 a GPU of either vendor.
SqlValue DeviceType(const SqlRow& at) {
  constexpr std::string_view kNames[] = {"cpu", "gpu", "other"};
  return SqlValue::Text(kNames[std::min<int>(at.trace->trace->memory_events.device_type[at.row], 2)]);
}

constexpr ComputedCell kCells[] = {{"device_type", DeviceType}};

}  // namespace

SQL_TABLE(memory_event) = kStored<&Trace::memory_events, &IdBase::memory_event, kCells>;

}  // namespace gapless::internal::memory_event_sqltable
