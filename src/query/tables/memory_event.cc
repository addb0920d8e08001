// SPDX-License-Identifier: Apache-2.0
// SQL table memory_event: allocations and frees by the framework's allocator. Frees have negative bytes, so that a
// running sum is the change of the memory in use.
#include <algorithm>

#include "query/cells.h"

namespace gapless::internal {
namespace {

// Numbered as the framework does: 0 is the host, 1 a GPU of either vendor.
SqlValue DeviceType(const SqlRow& at) {
  constexpr std::string_view kNames[] = {"cpu", "gpu", "other"};
  return SqlValue::Text(kNames[std::min<int>(at.trace->trace->memory_events.device_type[at.row], 2)]);
}

constexpr auto kTable = &Trace::memory_events;
constexpr auto kInt = ColumnType::kInt;
constexpr auto kText = ColumnType::kText;
constexpr SqlColumn kColumns[] = {
    {"id", kInt, "", "unique over the run, the same each time it is opened", IdCell<&IdBase::memory_event>},
    kTraceKey,
    kRankKey,
    {"device", kInt, "", "device; NULL: host", Cell<kTable, &MemoryEventTable::device>},
    {"device_type", kText, "", "cpu, gpu or other", DeviceType},
    {"stream", kInt, "", "stream", NoCell},
    {"action", kText, "", "alloc, free, segment_alloc, segment_free or oom", Cell<kTable, &MemoryEventTable::action>},
    {"ts_ns", kInt, "ns", "time, in run time", TimeCell<kTable, &MemoryEventTable::ts_ns>},
    {"bytes", kInt, "bytes", "frees are negative", Cell<kTable, &MemoryEventTable::bytes>},
    {"address", kInt, "", "start of the block", Cell<kTable, &MemoryEventTable::address>},
    {"slice_id", kInt, "id:slice", "innermost slice open on the thread", Cell<kTable, &MemoryEventTable::slice>},
    {"stack_id", kInt, "id:stack", "where it was allocated", NoCell},
    {"category", kText, "", "what the memory holds", NoCell},
    {"total_allocated", kInt, "bytes", "allocated after the event", Cell<kTable, &MemoryEventTable::total_allocated>},
    {"total_reserved", kInt, "bytes", "reserved after the event", Cell<kTable, &MemoryEventTable::total_reserved>},
};

}  // namespace

SQL_TABLE(memory_event) = {.name = "memory_event",
                           .help = "Allocations and frees of the framework's allocator",
                           .columns = kColumns,
                           .rows = RowsOf<kTable>,
                           .first_id = FirstIdOf<&IdBase::memory_event>,
                           .ts = TimesOf<kTable, &MemoryEventTable::ts_ns>};

}  // namespace gapless::internal
