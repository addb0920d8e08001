// SPDX-License-Identifier: Apache-2.0
// Host activity while a device was idle and nothing was being launched: the parts of idle gaps with cause `host`, by
// what host_idle.h finds open. The largest parts decide what to look at, so parts are not cut where the frame changes.
#include "analyses/rows/host_time.h"

#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/host_idle.h"
#include "analyses/open_slice.h"

namespace gapless::internal::host_time_analysis {
namespace {

struct Group {
  int64_t parts = 0, idle_ns = 0, longest_ns = -1;
  SliceId longest;
};
using Key = std::tuple<StringId, StringId, bool>;  // name, source line, while launching

void AddRow(const TraceTimeline& timeline, int32_t device, const Key& key, const Group& group,
            TableOf<HostTimeRows>& table) {
  const Trace& trace = timeline.trace();
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  auto row = table.Row(*timeline.of);
  row.Set("device", device).Set("name", trace.Text(std::get<0>(key)));
  if (group.longest.valid()) row.Set("category", ToString(trace.slices.category[group.longest.value]));
  row.Set("annotation", ContextOf(trace, group.longest).annotation).Set("source_line", trace.Text(std::get<1>(key)));
  row.Set("while_launching", std::get<2>(key)).Set("parts", group.parts);
  row.Set("parts_per_step", ShareOf(group.parts, steps)).Set("idle_ns", group.idle_ns);
  row.Set("longest_ns", group.longest_ns).Set("slice_id", timeline.of->Id(group.longest));
}

void AddRows(const TraceTimeline& timeline, const DeviceTimeline& device, TableOf<HostTimeRows>& table) {
  const Trace& trace = timeline.trace();
  std::map<Key, Group> groups;
  for (const HostIdle& part : HostIdleParts(trace, device)) {
    const bool known = part.slice.valid();
    Group& group = groups[{known ? NameUnlessStep(trace, part.slice) : StringId::kNone,
                           known ? trace.slices.source_line[part.slice.value] : StringId::kNone, part.launching}];
    ++group.parts, group.idle_ns += part.span.length();
    if (part.span.length() > group.longest_ns) group.longest_ns = part.span.length(), group.longest = part.slice;
  }
  std::vector<std::pair<Key, Group>> ordered(groups.begin(), groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.idle_ns > b.second.idle_ns; });
  for (const auto& [key, group] : ordered) AddRow(timeline, device.device, key, group, table);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<HostTimeRows> table;
  for (const TraceTimeline& timeline : tables.Timelines())
    for (const DeviceTimeline& device : timeline.devices) AddRows(timeline, device, table);
  return table;
}

}  // namespace

ANALYSIS(host_time) = AnalysisOf<HostTimeRows>({.run = Compute, .cost = 2});

}  // namespace gapless::internal::host_time_analysis
