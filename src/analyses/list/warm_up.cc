// SPDX-License-Identifier: Apache-2.0
// One-off host work while no device works, in the whole recording (one_offs.h): loading, first calls, compilation,
// graph capture.
#include "analyses/rows/warm_up.h"

#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::warm_up_analysis {
namespace {

struct Group {
  int64_t calls = 0, total_ns = 0, idle_ns = 0, window_idle_ns = 0, max_ns = 0;
  SliceId longest;
};
using Key = std::tuple<OneOffKind, StringId, StringId>;

void AddRows(const TraceTimeline& timeline, TableOf<WarmUpRows>& table) {
  const Trace& trace = timeline.trace();
  const Intervals busy = timeline.window.one_offs.empty() ? Intervals() : DeviceWork(trace);
  std::map<Key, Group> groups;
  int64_t counted_until = std::numeric_limits<int64_t>::min();  // time in two one-offs at once counts for the first
  for (const OneOff& one_off : timeline.window.one_offs) {
    Group& group =
        groups[{one_off.kind, trace.slices.name[one_off.slice.value], trace.slices.source_line[one_off.slice.value]}];
    const Interval span{std::max(one_off.span.start, counted_until), one_off.span.end};
    counted_until = std::max(counted_until, span.end);
    ++group.calls;
    if (span.end > span.start) {
      const Intervals idle = Subtract({span}, Clip(busy, span));
      group.total_ns += span.length(), group.idle_ns += Total(idle);
      group.window_idle_ns += TotalIn(idle, timeline.window.span);
    }
    if (!group.longest.valid() || one_off.span.length() > group.max_ns)
      group.max_ns = one_off.span.length(), group.longest = one_off.slice;
  }
  std::vector<std::pair<Key, Group>> ordered(groups.begin(), groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.idle_ns > b.second.idle_ns; });
  for (const auto& [key, group] : ordered) {
    const auto& [kind, name, line] = key;
    auto row = table.Row(*timeline.of);
    row.Set("kind", kOneOffKindNames[static_cast<size_t>(kind)]).Set("name", trace.Text(name));
    row.Set("source_line", trace.Text(line)).Set("calls", group.calls).Set("total_ns", group.total_ns);
    row.Set("idle_ns", group.idle_ns).Set("window_idle_ns", group.window_idle_ns).Set("max_ns", group.max_ns);
    row.Set("slice_id", timeline.of->Id(group.longest));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<WarmUpRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(warm_up) = AnalysisOf<WarmUpRows>({.run = Compute});

}  // namespace gapless::internal::warm_up_analysis
