// SPDX-License-Identifier: Apache-2.0
// Checks a mapped trace: ids name rows and texts that exist, enums have known values, times are sorted and in range.
// Each check is one sweep over the stored values of a column without branches, at the speed of memory.
#include "trace/trace_check.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace gapless::internal {
namespace {

constexpr int64_t kMaxAmount = int64_t{1} << 54;   // ns (208 days) or bytes (18 PB): a thousand of them can be added
constexpr int64_t kMaxClockNs = int64_t{1} << 61;  // 73 years, of clocks that count from 1970

// Limits is how many rows and texts ids may name.
struct Limits {
  size_t slices, gpu_ops, threads, steps, stacks, texts;
};

constexpr size_t RowsOf(SliceId, const Limits& limits) { return limits.slices; }
constexpr size_t RowsOf(GpuOpId, const Limits& limits) { return limits.gpu_ops; }
constexpr size_t RowsOf(ThreadId, const Limits& limits) { return limits.threads; }
constexpr size_t RowsOf(StepId, const Limits& limits) { return limits.steps; }
constexpr size_t RowsOf(StackId, const Limits& limits) { return limits.stacks; }

constexpr size_t ValuesOf(SliceCategory) { return kSliceCategoryNames.size(); }
constexpr size_t ValuesOf(ApiKind) { return kApiKindNames.size(); }
constexpr size_t ValuesOf(GpuOpKind) { return kGpuOpKindNames.size(); }
constexpr size_t ValuesOf(GpuOpClass) { return kGpuOpClassNames.size(); }
constexpr size_t ValuesOf(CopyKind) { return kCopyKindNames.size(); }
constexpr size_t ValuesOf(MatrixUnit) { return kMatrixUnitNames.size(); }
constexpr size_t ValuesOf(KernelPrecision) { return kKernelPrecisionNames.size(); }
constexpr size_t ValuesOf(SyncKind) { return kSyncKindNames.size(); }
constexpr size_t ValuesOf(StepSource) { return kStepSourceNames.size(); }
constexpr size_t ValuesOf(FlowKind) { return kFlowKindNames.size(); }
constexpr size_t ValuesOf(Vendor) { return kVendorNames.size(); }
constexpr size_t ValuesOf(MemoryAction) { return kMemoryActionNames.size(); }
constexpr size_t ValuesOf(Severity) { return kSeverityNames.size(); }

template <class T, class Of>
bool AllBelow(const Column<T>& column, size_t limit, Of of) {
  size_t above = 0;  // counted without a branch, so that it is one sweep at the speed of memory
  for (const T value : column.stored()) above += of(value) >= limit ? 1 : 0;
  return above == 0;
}

bool AreBetween(const Column<int64_t>& column, bool absent_too, int64_t least) {
  size_t bad = 0;
  for (const int64_t value : column.stored())
    bad += (value < least || value > kMaxAmount) && !(absent_too && value == kAbsent) ? 1 : 0;
  return bad == 0;
}

// Columns that analyses sum, besides times.
constexpr std::string_view kAmounts[] = {"bytes", "in_elements", "out_elements", "calls", "count", "samples"};

// Returns true if all values are in range. The range follows from the column name, which carries the unit.
bool NumbersFit(std::string_view table, std::string_view name, const Column<int64_t>& column) {
  if (name == "ts_ns" || name == "from_ts_ns" || name == "to_ts_ns") return AreBetween(column, false, -kMaxAmount);
  if (name == "dur_ns")
    return AreBetween(column, table == CollectiveTable::kAbout.name || table == PageFaultTable::kAbout.name, 0);
  const bool is_amount = std::find(std::begin(kAmounts), std::end(kAmounts), name) != std::end(kAmounts);
  if (is_amount || name.ends_with("_ns") || name.starts_with("total_")) return AreBetween(column, true, -kMaxAmount);
  return true;
}

// Checks one column by the type of its values: ids against the rows of their table, enums against their names,
// 64-bit integers and flags by the name of the column. Others may hold any value.
template <class T>
bool Fits(std::string_view table, std::string_view name, const Column<T>& column, const Limits& limits) {
  if constexpr (std::is_same_v<T, StringId>)
    return AllBelow(column, limits.texts, [](StringId id) { return static_cast<size_t>(id); });
  else if constexpr (std::is_enum_v<T>)
    return AllBelow(column, ValuesOf(T{}), [](T value) { return static_cast<size_t>(value); });
  else if constexpr (std::is_class_v<T>)  // kNoRow wraps to 0
    return AllBelow(column, RowsOf(T{}, limits) + 1, [](T id) -> size_t { return id.value + 1U; });
  else if constexpr (std::is_same_v<T, int64_t>)
    return NumbersFit(table, name, column);
  else if constexpr (std::is_same_v<T, uint8_t>)
    return name != "complete" || AllBelow(column, 2, [](uint8_t value) -> size_t { return value; });
  else
    return true;
}

// Checks every column of every table; after the first that does not fit the others are passed over.
bool ColumnsFit(const Trace& trace) {
  const Limits limits{trace.slices.size(), trace.gpu_ops.size(), trace.threads.size(),
                      trace.steps.size(),  trace.stacks.size(),  trace.strings.size()};
  bool fit = true;
  Trace::VisitTables(trace, [&](std::string_view table_name, const auto& table) {
    std::decay_t<decltype(table)>::Visit(
        table, [&](std::string_view name, const auto& column) { fit = fit && Fits(table_name, name, column, limits); });
  });
  return fit;
}

bool Sorted(const Column<int64_t>& ts_ns) { return std::ranges::is_sorted(ts_ns.stored()); }

bool TablesAreSorted(const Trace& trace) {
  return Sorted(trace.slices.ts_ns) && Sorted(trace.gpu_ops.ts_ns) && Sorted(trace.gpu_annotations.ts_ns) &&
         Sorted(trace.syncs.ts_ns) && Sorted(trace.collectives.ts_ns) && Sorted(trace.steps.ts_ns) &&
         Sorted(trace.counters.ts_ns) && Sorted(trace.memory_events.ts_ns) && Sorted(trace.samples.ts_ns) &&
         Sorted(trace.os_calls.ts_ns) && Sorted(trace.thread_runs.ts_ns) && Sorted(trace.page_faults.ts_ns) &&
         std::is_sorted(trace.devices.device.begin(), trace.devices.device.end());
}

// Steps do not overlap, and where one has device work it begins before it ends.
bool StepsFollow(const StepTable& steps) {
  for (size_t row = 0; row < steps.size(); ++row) {
    if (row > 0 && steps.ts_ns[row - 1] + steps.dur_ns[row - 1] > steps.ts_ns[row]) return false;
    const bool has_start = steps.gpu_start_ns[row] != kAbsent, has_end = steps.gpu_end_ns[row] != kAbsent;
    if (has_start != has_end || steps.gpu_start_ns[row] > steps.gpu_end_ns[row]) return false;
  }
  return true;
}

// Callers stand before what they call, so that walking up from a frame ends.
bool StacksNest(const StackTable& stacks) {
  for (size_t row = 0; row < stacks.size(); ++row)
    if (stacks.parent[row].valid() && stacks.parent[row].value >= row) return false;
  return true;
}

// Every slice and memory event is of a thread; walking up from a slice ends, and its depth says after how many of them.
bool SlicesNest(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  const auto has_thread = [](ThreadId id) { return id.valid(); };
  if (!std::ranges::all_of(slices.thread.stored(), has_thread)) return false;
  for (size_t row = 0; row < slices.size(); ++row) {
    const SliceId parent = slices.parent[row];
    if (parent.valid() && (parent.value >= row || slices.thread[parent.value] != slices.thread[row])) return false;
    const int depth = parent.valid() ? std::min(slices.depth[parent.value] + 1, 65535) : 0;
    if (slices.depth[row] != depth) return false;
  }
  return true;
}

// Checks that the clocks and the duration are in a range in which sums cannot overflow.
bool InfoFits(const TraceInfo& info) {
  const auto is_clock = [](int64_t ns) { return ns >= -kMaxClockNs && ns <= kMaxClockNs; };
  return is_clock(info.origin_ns) && info.dur_ns >= 0 && info.dur_ns <= kMaxAmount && info.event_count >= 0 &&
         (info.start_unix_ns == kAbsent || is_clock(info.start_unix_ns));
}

}  // namespace

bool HoldsTogether(const Trace& trace) {
  return InfoFits(trace.info) && ColumnsFit(trace) && TablesAreSorted(trace) && StepsFollow(trace.steps) &&
         StacksNest(trace.stacks) && SlicesNest(trace);
}

}  // namespace gapless::internal
