// SPDX-License-Identifier: Apache-2.0
// The ledger of the whole analysed window, cut further: which kernel computes, which copy is exposed, in which call the
// host launches. The sums over each part are the ledger's columns, to the nanosecond.
//
// Work that runs at once must be given to one: to the operation that began first, until it ends. That needs one walk in
// the order of starts, never changes what an operation has when others are added behind it, and leaves nothing to what
// is hidden. To share a moment equally would need as many pieces as operations overlap, and thirds of nanoseconds.
#include "analyses/rows/step_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/copy_kinds.h"
#include "analyses/host_idle.h"
#include "analyses/host_partition.h"

namespace gapless::internal::step_parts_analysis {
namespace {

constexpr std::string_view kWorkParts[] = {"compute", "exposed_comm", "exposed_copy"};
constexpr std::string_view kIdleParts[kIdleCauses] = {"idle_data", "idle_launch", "idle_sync", "idle_host",
                                                      "idle_unknown"};

struct Group {
  int64_t calls = 0, ns = 0;
  std::map<StringId, int64_t> lines;  // time by source line

  void Add(int64_t more_calls, int64_t more_ns, StringId line) {
    calls += more_calls, ns += more_ns;
    if (line != StringId::kNone) lines[line] += more_ns;
  }
  StringId Line() const {
    const auto most = std::ranges::max_element(lines, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == lines.end() ? StringId::kNone : most->first;
  }
};
using Key = std::tuple<std::string_view, std::string_view, StringId, bool>;  // part, name, operator, after a wait
using Groups = std::map<Key, Group>;

// Returns the intervals in which work of a part counts.
const Intervals& Counted(const DeviceTimeline& device, size_t part) {
  return part == 0 ? device.compute : part == 1 ? device.exposed_communication : device.exposed_copies;
}

size_t WorkPartOf(const GpuOpTable& ops, uint32_t row) {
  if (ops.kind[row] != GpuOpKind::kKernel) return 2;
  return ops.op_class[row] == GpuOpClass::kCommunication ? 1 : 0;
}

std::string_view NameOfWork(const Trace& trace, uint32_t row) {
  const GpuOpTable& ops = trace.gpu_ops;
  if (ops.kind[row] == GpuOpKind::kKernel) return trace.Text(ops.name[row]);
  if (ops.kind[row] == GpuOpKind::kMemset) return "memset";
  const CopyKind kind = ops.copy_kind[row] == CopyKind::kNone ? CopyKind::kOther : ops.copy_kind[row];
  return kCopyKindNames[static_cast<size_t>(kind)];
}

// The user's line of an operation: of its operator, else of the call that launched it.
StringId LineOfWork(const Trace& trace, uint32_t row) {
  for (const SliceId slice : {trace.gpu_ops.op[row], trace.gpu_ops.launch[row]})
    if (slice.valid() && trace.slices.source_line[slice.value] != StringId::kNone)
      return trace.slices.source_line[slice.value];
  return StringId::kNone;
}

void AddWork(const TraceTimeline& timeline, const DeviceTimeline& device, Groups& groups) {
  const Trace& trace = timeline.trace();
  const GpuOpTable& ops = trace.gpu_ops;
  const Interval window = timeline.window.span;
  const std::array<IntervalSums, 3> counted{IntervalSums(Counted(device, 0)), IntervalSums(Counted(device, 1)),
                                            IntervalSums(Counted(device, 2))};
  std::array<int64_t, 3> taken;  // by part: until here the time has an owner
  taken.fill(window.start);
  for (size_t at = 0; at < device.last; ++at) {
    const uint32_t row = device.rows[at];
    const size_t part = WorkPartOf(ops, row);
    const Interval own{std::max(ops.ts_ns[row], taken[part]), std::min(ops.ts_ns[row] + ops.dur_ns[row], window.end)};
    const bool is_inside = at >= device.first;
    const int64_t ns = own.length() > 0 ? counted[part].In(own) : 0;
    taken[part] = std::max(taken[part], own.end);
    if (!is_inside && ns == 0) continue;
    const SliceId op = ops.op[row];
    const StringId operator_name = op.valid() ? trace.slices.name[op.value] : StringId::kNone;
    groups[{kWorkParts[part], NameOfWork(trace, row), operator_name, false}].Add(is_inside, ns, LineOfWork(trace, row));
  }
}

// The outermost operator around a slice, else the slice itself.
StringId OutermostOperator(const Trace& trace, SliceId slice) {
  StringId name = trace.slices.name[slice.value];
  for (SliceId at = slice; at.valid(); at = trace.slices.parent[at.value])
    if (trace.slices.category[at.value] == SliceCategory::kOperator) name = trace.slices.name[at.value];
  return name;
}

void AddIdle(const Trace& trace, const DeviceTimeline& device, Groups& groups) {
  const auto add = [&](IdleCause cause, StringId name, bool after_wait, SliceId slice, int64_t ns) {
    const StringId line = slice.valid() ? trace.slices.source_line[slice.value] : StringId::kNone;
    groups[{kIdleParts[static_cast<size_t>(cause)], trace.Text(name), StringId::kNone, after_wait}].Add(1, ns, line);
  };
  for (const IdleGap& gap : device.gaps) {
    const bool waited = gap.part_count > 0 && device.parts[gap.first_part].cause == IdleCause::kSync;
    for (uint32_t at = gap.first_part; at < gap.first_part + gap.part_count; ++at) {
      const IdlePart& part = device.parts[at];
      if (part.cause == IdleCause::kHost) continue;
      const StringId name = part.slice.valid() ? OutermostOperator(trace, part.slice) : StringId::kNone;
      add(part.cause, name, waited && part.cause == IdleCause::kLaunch, part.slice,
          device.PartEnd(gap, at) - part.start);
    }
  }
  for (const HostIdle& part : HostIdleParts(trace, device))
    add(IdleCause::kHost, part.slice.valid() ? NameUnlessStep(trace, part.slice) : StringId::kNone, false, part.slice,
        part.span.length());
}

bool IsInsideOperator(const SliceTable& slices, uint32_t row) {
  for (SliceId at = slices.parent[row]; at.valid(); at = slices.parent[at.value])
    if (slices.category[at.value] == SliceCategory::kOperator) return true;
  return false;
}

// Slices of a thread by their beginnings and by their ends, each in the order of time.
struct SliceTimes {
  std::vector<std::pair<int64_t, uint32_t>> begins, ends;
};

SliceTimes TimesOf(const SliceTable& slices, ThreadId thread, bool outermost_operators_only) {
  SliceTimes times;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.thread[row] != thread) continue;
    const bool is_operator = slices.category[row] == SliceCategory::kOperator;
    if (outermost_operators_only && (!is_operator || IsInsideOperator(slices, row))) continue;
    times.begins.emplace_back(slices.ts_ns[row], row);
    times.ends.emplace_back(slices.ts_ns[row] + slices.dur_ns[row], row);
  }
  std::ranges::sort(times.begins);
  std::ranges::sort(times.ends);
  return times;
}

// Returns the time of each slice within `in`: every moment belongs to the open slice that began last, which is the
// innermost one, and of slices that overlap without nesting the later.
std::vector<int64_t> OwnTimesIn(const SliceTimes& times, size_t slices, const Intervals& in) {
  const IntervalSums sums(in);
  std::vector<int64_t> own(slices);
  std::vector<uint8_t> is_closed(slices);
  std::vector<uint32_t> open;
  int64_t at = 0;
  const auto give_until = [&](int64_t moment) {
    while (!open.empty() && is_closed[open.back()] != 0) open.pop_back();
    if (!open.empty() && moment > at) own[open.back()] += sums.In({at, moment});
    at = moment;
  };
  for (size_t begin = 0, end = 0; end < times.ends.size();) {
    const bool ends_first = begin == times.begins.size() || times.ends[end].first <= times.begins[begin].first;
    give_until(ends_first ? times.ends[end].first : times.begins[begin].first);
    if (ends_first)
      is_closed[times.ends[end++].second] = 1;
    else
      open.push_back(times.begins[begin++].second);
  }
  return own;
}

// Adds operators or frames of the stepping thread with their time in each part; what is left over is nobody's.
void AddHost(const TraceTimeline& timeline, Tables& tables, Groups& groups) {
  const Trace& trace = timeline.trace();
  const SliceTable& slices = trace.slices;
  const HostPartition partition = PartitionHost(timeline, tables.Once(trace, FindOptimizerUpdates));
  const ThreadId thread = host_parts::SteppingThread(trace);
  const SliceTimes frames = TimesOf(slices, thread, false), operators = TimesOf(slices, thread, true);
  for (size_t part = 0; part < partition.of.size(); ++part) {
    const Intervals& in = partition.of[part];
    const auto add = [&](StringId name, StringId line, int64_t ns) {
      if (ns != 0) groups[{kHostPartNames[part], trace.Text(name), StringId::kNone, false}].Add(1, ns, line);
    };
    const bool by_operator = part == static_cast<size_t>(host_parts::Part::kOperator) ||
                             part == static_cast<size_t>(host_parts::Part::kOptimizer);
    int64_t left = Total(in);
    if (left == 0) continue;
    const std::vector<int64_t> own = OwnTimesIn(by_operator ? operators : frames, slices.size(), in);
    for (uint32_t row = 0; row < slices.size(); ++row)
      if (own[row] != 0) add(NameUnlessStep(trace, SliceId(row)), slices.source_line[row], own[row]), left -= own[row];
    add(StringId::kNone, StringId::kNone, left);
  }
}

void AddRows(const TraceTimeline& timeline, int64_t device, const Groups& groups, TableOf<StepPartsRows>& table) {
  const Trace& trace = timeline.trace();
  std::vector<Groups::const_iterator> order;
  for (auto at = groups.begin(); at != groups.end(); ++at) order.push_back(at);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a->second.ns > b->second.ns; });
  for (const auto& at : order) {
    const auto& [part, name, op, after_wait] = at->first;
    auto row = table.Row(*timeline.of);
    row.Set("device", device).Set("part", part).Set("name", name).Set("operator", trace.Text(op));
    if (part == kIdleParts[static_cast<size_t>(IdleCause::kLaunch)]) row.Set("after_wait", after_wait);
    row.Set("source_line", trace.Text(at->second.Line())).Set("calls", at->second.calls).Set("time_ns", at->second.ns);
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<StepPartsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    for (const DeviceTimeline& device : timeline.devices) {
      Groups groups;
      AddWork(timeline, device, groups);
      AddIdle(timeline.trace(), device, groups);
      AddRows(timeline, device.device, groups, table);
    }
    if (!timeline.devices.empty()) continue;
    Groups groups;
    AddHost(timeline, tables, groups);
    AddRows(timeline, kAbsent, groups, table);
  }
  return table;
}

}  // namespace

ANALYSIS(step_parts) = AnalysisOf<StepPartsRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::step_parts_analysis
