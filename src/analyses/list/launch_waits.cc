// SPDX-License-Identifier: Apache-2.0
// Idle time while the host launches: the `launch` parts of idle gaps by the outermost operator (or call) that was at
// work, and the moments between operators in gaps whose main cause is launching. Two kinds of such time do not depend
// on how fast a step is launched, and are listed separately. While a thread captures a graph (…StreamBeginCapture to
// …EndCapture and …GraphInstantiate on it) nothing of what it launches runs. And a single call may take most of all
// there is: the first use of a kernel loads its code, the first tensor starts the allocator. `call_ns` is the longest
// part of each row as far as one call, or one operator by itself, took it.
#include "analyses/rows/launch_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"
#include "trace/captures.h"

namespace gapless::internal::launch_waits_analysis {
namespace {

enum Kind : uint8_t { kOperator, kBetween, kCapture };
constexpr std::string_view kKindNames[] = {"operator", "between", "capture"};

// Returns, for each thread, when it captured a graph or made one ready to run.
std::vector<Intervals> Captures(const Trace& trace) {
  std::vector<Intervals> spans;
  for (const std::vector<Capture>& of_thread : CapturesByThread(trace)) {
    spans.emplace_back();
    for (const Capture& capture : of_thread) AppendMerged(spans.back(), {capture.start_ns, capture.end_ns});
  }
  return spans;
}

struct Part {
  Interval span;
  SliceId slice;
};
struct Group {
  int64_t parts = 0, idle_ns = 0;
  Part longest;
};
using Key = std::tuple<Kind, StringId, StringId>;  // operator or call, source line

class Waits {
 public:
  Waits(const Trace& trace, const std::vector<Intervals>& captures, const DeviceTimeline& device)
      : trace_(trace), captures_(captures) {
    for (const IdleGap& gap : device.gaps) {
      const bool launching = device.MainCause(gap) == IdleCause::kLaunch;
      for (uint32_t at = gap.first_part; at < gap.first_part + gap.part_count; ++at) {
        const IdlePart& part = device.parts[at];
        if (part.cause != IdleCause::kLaunch && !(launching && part.cause == IdleCause::kHost)) continue;
        const SliceId on = part.slice.valid() || !gap.next.valid() ? part.slice : trace.gpu_ops.launch[gap.next.value];
        Add({{part.start, device.PartEnd(gap, at)}, part.slice},
            part.cause == IdleCause::kLaunch ? kOperator : kBetween, on);
      }
    }
  }

  std::map<Key, Group> groups;

 private:
  void Add(const Part& part, Kind kind, SliceId on) {
    int64_t captured = 0;
    if (!captures_.empty() && on.valid())
      captured = LengthWithin(captures_[trace_.slices.thread[on.value].value], part.span);
    if (captured > 0) AddTo({kCapture, StringId::kNone, StringId::kNone}, part, captured);
    if (const int64_t rest = part.span.length() - captured; rest > 0) AddTo(KeyOf(kind, part.slice), part, rest);
  }

  Key KeyOf(Kind kind, SliceId slice) const {
    if (kind == kBetween || !slice.valid()) return {kind, StringId::kNone, StringId::kNone};
    const SliceTable& slices = trace_.slices;
    StringId name = slices.name[slice.value];
    for (SliceId at = slice; at.valid(); at = slices.parent[at.value])
      if (slices.category[at.value] == SliceCategory::kOperator) name = slices.name[at.value];
    return {kind, name, slices.source_line[slice.value]};
  }

  void AddTo(const Key& key, const Part& part, int64_t ns) {
    Group& group = groups[key];
    if (group.parts++ == 0 || part.span.length() > group.longest.span.length()) group.longest = part;
    group.idle_ns += ns;
  }

  static int64_t LengthWithin(const Intervals& of, Interval span) {
    auto at = std::upper_bound(of.begin(), of.end(), span.start,
                               [](int64_t ts, const Interval& interval) { return ts < interval.end; });
    int64_t ns = 0;
    for (; at != of.end() && at->start < span.end; ++at)
      ns += std::min(at->end, span.end) - std::max(at->start, span.start);
    return ns;
  }

  const Trace& trace_;
  const std::vector<Intervals>& captures_;
};

struct Row {
  Key key;
  Group group;
  SliceId call{};  // not valid: no single one
  int64_t call_ns = 0;
};

// Finds what took the longest part of each row: the deepest slice over half of it, if that is a call, or an operator
// that spent the time itself and not in operators it called.
void FindCalls(const Trace& trace, std::vector<Row>& rows) {
  const SliceTable& slices = trace.slices;
  std::vector<Row*> asked;
  for (Row& row : rows)
    if (std::get<0>(row.key) == kOperator && row.group.longest.slice.valid()) asked.push_back(&row);
  std::stable_sort(asked.begin(), asked.end(), [](const Row* a, const Row* b) {
    return Middle(a->group.longest.span) < Middle(b->group.longest.span);
  });
  std::vector<OpenQuery> queries;
  for (const Row* row : asked)
    queries.push_back({Middle(row->group.longest.span), slices.thread[row->group.longest.slice.value]});
  const std::vector<SliceId> found = InnermostOpen(trace, queries);
  for (size_t i = 0; i < found.size(); ++i) {
    const SliceId at = DeepestOverHalf(trace, found[i], asked[i]->group.longest.span);
    if (!at.valid()) continue;
    const SliceCategory category = slices.category[at.value];
    const int64_t taken = OverlapOf(trace, at, asked[i]->group.longest.span);
    const bool call = category == SliceCategory::kRuntime || category == SliceCategory::kDriver;
    if (call || (category == SliceCategory::kOperator && 2 * slices.self_ns[at.value] >= taken))
      asked[i]->call = at, asked[i]->call_ns = taken;
  }
}

void AddRows(const TraceTimeline& timeline, const std::vector<Intervals>& captures, const DeviceTimeline& device,
             TableOf<LaunchWaitsRows>& table) {
  const Trace& trace = timeline.trace();
  const Waits waits(trace, captures, device);
  std::vector<Row> rows;
  for (const auto& [key, group] : waits.groups) rows.push_back({key, group});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.group.idle_ns > b.group.idle_ns; });
  FindCalls(trace, rows);
  for (const Row& item : rows) {
    const auto& [kind, name, line] = item.key;
    auto row = table.Row(*timeline.of);
    row.Set("device", device.device).Set("kind", kKindNames[kind]).Set("operator", trace.Text(name));
    row.Set("source_line", trace.Text(line)).Set("parts", item.group.parts).Set("idle_ns", item.group.idle_ns);
    if (item.call.valid()) row.Set("call", trace.Text(trace.slices.name[item.call.value])).Set("call_ns", item.call_ns);
    row.Set("slice_id", timeline.of->Id(item.call.valid() ? item.call : item.group.longest.slice));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LaunchWaitsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const std::vector<Intervals> captures = Captures(timeline.trace());
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, captures, device, table);
  }
  return table;
}

}  // namespace

ANALYSIS(launch_waits) = AnalysisOf<LaunchWaitsRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::launch_waits_analysis
