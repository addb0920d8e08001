// SPDX-License-Identifier: Apache-2.0
// Synchronisations by where they come from. What a wait costs shows after it: the device has run dry, and until the
// host has launched again it is idle. `idle_after_ns` is that time: idle gaps that began while the host was in the
// wait, without what the data loader took of them, what was queued already (the recording does not show what that
// waited for), and what a large copy at work did (analysis copy_places). Without the wait the host would have come to
// its next launch earlier, but by no more than the wait took: `avoidable_ns`.
#include "analyses/rows/syncs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"
#include "analyses/timeline.h"

namespace gapless::internal::syncs_analysis {
namespace {

struct Group {
  int64_t calls = 0, wait_ns = kAbsent, timed = 0, drained = 0, idle_ns = 0, avoidable_ns = 0;
  uint32_t longest = 0;
};
using Key = std::tuple<SyncKind, std::string_view, std::string_view, std::string_view, std::string_view>;

// The host's waits by start, to find the one during which a gap began.
class HostWaits {
 public:
  explicit HostWaits(const SyncTable& syncs) : syncs_(syncs) {
    for (uint32_t row = 0; row < syncs.size(); ++row)
      if (syncs.slice[row].valid() && syncs.kind[row] != SyncKind::kStreamWait) rows_.push_back(row);
  }
  // Returns the latest to start of those that contain `ts`; kNoRowValue: none.
  uint32_t At(int64_t ts) const {
    const auto later = std::upper_bound(rows_.begin(), rows_.end(), ts,
                                        [&](int64_t at, uint32_t row) { return at < syncs_.ts_ns[row]; });
    const auto started = static_cast<size_t>(later - rows_.begin());
    constexpr size_t kThreads = 8;  // waits of other threads that started later and are over
    for (size_t back = 1; back <= std::min(started, kThreads); ++back) {
      const uint32_t row = rows_[started - back];
      if (syncs_.ts_ns[row] + syncs_.dur_ns[row] >= ts) return row;
    }
    return kNoRowValue;
  }

 private:
  const SyncTable& syncs_;
  std::vector<uint32_t> rows_;
};

struct After {
  std::vector<int64_t> idle_ns, avoidable_ns;  // by row of the sync table
  std::vector<uint8_t> drained;
};

// Returns the idle time of a gap caused by missing launches, without data loading and without work queued before.
int64_t IdleForTheHost(const TraceTimeline& timeline, const DeviceTimeline& device, const IdleGap& gap) {
  int64_t idle_ns = 0;
  for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
    const IdleCause cause = device.parts[part].cause;
    if (cause == IdleCause::kData || cause == IdleCause::kUnknown) continue;
    if (!IsCopyAtWork(timeline.trace(), gap, device.parts[part]))
      idle_ns += device.PartEnd(gap, part) - device.parts[part].start;
  }
  return idle_ns;
}

After IdleAfter(const TraceTimeline& timeline) {
  const SyncTable& syncs = timeline.trace().syncs;
  After after{std::vector<int64_t>(syncs.size()), std::vector<int64_t>(syncs.size()),
              std::vector<uint8_t>(syncs.size())};
  const HostWaits waits(syncs);
  for (const DeviceTimeline& device : timeline.devices) {
    std::vector<std::pair<uint32_t, int64_t>> idle;  // row of the wait, idle time of a gap that began in it
    for (const IdleGap& gap : device.gaps) {
      const uint32_t row = waits.At(gap.span.start);
      if (row == kNoRowValue) continue;
      after.drained[row] = 1;
      idle.push_back({row, IdleForTheHost(timeline, device, gap)});
    }
    // Gaps come in order of time, but not those of one wait together: waits of several threads may overlap.
    std::stable_sort(idle.begin(), idle.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < idle.size();) {
      const uint32_t row = idle[i].first;
      int64_t sum = 0;
      for (; i < idle.size() && idle[i].first == row; ++i) sum += idle[i].second;
      after.idle_ns[row] += sum;
      after.avoidable_ns[row] += std::min(sum, std::max<int64_t>(0, syncs.wait_ns[row]));
    }
  }
  return after;
}

Key KeyOf(const Trace& trace, uint32_t row) {
  const SliceId slice = trace.syncs.slice[row];
  const HostContext context = ContextOf(trace, slice);
  const std::string_view call = slice.valid() ? trace.Text(trace.slices.name[slice.value]) : std::string_view();
  return {trace.syncs.kind[row], call, context.operator_name, context.annotation, context.source_line};
}

std::map<Key, Group> Collect(const TraceTimeline& timeline) {
  const Trace& trace = timeline.trace();
  const SyncTable& syncs = trace.syncs;
  const After after = IdleAfter(timeline);
  std::map<Key, Group> groups;
  const RowRange rows = RowsWithin(syncs.ts_ns, timeline.window.host);
  for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
    Group& group = groups[KeyOf(trace, row)];
    const int64_t wait = syncs.wait_ns[row];
    if (group.calls++ == 0 || wait > syncs.wait_ns[group.longest]) group.longest = row;
    if (wait != kAbsent) group.wait_ns = (group.timed++ == 0 ? 0 : group.wait_ns) + wait;
    group.drained += after.drained[row];
    group.idle_ns += after.idle_ns[row];
    group.avoidable_ns += after.avoidable_ns[row];
  }
  return groups;
}

void AddRows(const TraceTimeline& timeline, TableOf<SyncsRows>& table) {
  const std::map<Key, Group> groups = Collect(timeline);
  std::vector<std::pair<Key, Group>> ordered(groups.begin(), groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.wait_ns > b.second.wait_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const auto devices = static_cast<int64_t>(timeline.devices.size());
  const SyncTable& syncs = timeline.trace().syncs;
  for (const auto& [key, group] : ordered) {
    const auto& [kind, call, operator_name, annotation, source_line] = key;
    auto row = table.Row(*timeline.of);
    row.Set("kind", ToString(kind)).Set("call", call).Set("operator", operator_name).Set("annotation", annotation);
    row.Set("source_line", source_line).Set("calls", group.calls).Set("calls_per_step", ShareOf(group.calls, steps));
    row.Set("wait_ns", group.wait_ns).Set("mean_wait_ns", MeanOf(group.wait_ns, group.timed));
    row.Set("max_wait_ns", syncs.wait_ns[group.longest]).Set("drained", group.drained);
    row.Set("idle_after_ns", MeanOf(group.idle_ns, devices)).Set("avoidable_ns", MeanOf(group.avoidable_ns, devices));
    row.Set("sync_id", timeline.of->base.sync + group.longest);
    row.Set("slice_id", timeline.of->Id(syncs.slice[group.longest]));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<SyncsRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(syncs) = AnalysisOf<SyncsRows>({.run = Compute});

}  // namespace gapless::internal::syncs_analysis
