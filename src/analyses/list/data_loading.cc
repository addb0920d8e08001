// SPDX-License-Identifier: Apache-2.0
// Waiting for the next batch, by iterator and place in the user's code.
#include "analyses/rows/data_loading.h"

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "trace/marks.h"

namespace gapless::internal::data_loading_analysis {
namespace {

struct Group {
  int64_t calls = 0, total_ns = 0, idle_ns = 0;
  uint32_t longest = 0;
};
using Key = std::pair<StringId, StringId>;  // name, source line

class Loading {
 public:
  explicit Loading(const TraceTimeline& timeline) : timeline_(timeline), trace_(timeline.trace()) {
    is_data_.resize(trace_.strings.size());
    for (size_t id = 0; id < is_data_.size(); ++id)
      is_data_[id] = IsDataLoadingMark(trace_.strings[static_cast<StringId>(id)]);
    if (std::find(is_data_.begin(), is_data_.end(), 1) == is_data_.end()) return;
    AddCalls();
    AddIdle();
  }

  std::map<Key, Group> groups;

 private:
  void AddCalls() {
    const SliceTable& slices = trace_.slices;
    const RowRange rows = RowsWithin(slices.ts_ns, timeline_.window.host);
    for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
      if (is_data_[static_cast<uint32_t>(slices.name[row])] == 0 || InsideAnother(row)) continue;
      Group& group = groups[{slices.name[row], slices.source_line[row]}];
      group.total_ns += slices.dur_ns[row];
      if (group.calls++ == 0 || slices.dur_ns[row] > slices.dur_ns[group.longest]) group.longest = row;
    }
  }

  void AddIdle() {
    for (const DeviceTimeline& device : timeline_.devices)
      for (const IdleGap& gap : device.gaps)
        for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
          if (device.parts[part].cause != IdleCause::kData) continue;
          const uint32_t slice = device.parts[part].slice.value;
          const auto group = groups.find({trace_.slices.name[slice], trace_.slices.source_line[slice]});
          if (group != groups.end()) group->second.idle_ns += device.PartEnd(gap, part) - device.parts[part].start;
        }
  }

  bool InsideAnother(uint32_t row) const {
    for (SliceId at = trace_.slices.parent[row]; at.valid(); at = trace_.slices.parent[at.value])
      if (is_data_[static_cast<uint32_t>(trace_.slices.name[at.value])] != 0) return true;
    return false;
  }

  const TraceTimeline& timeline_;
  const Trace& trace_;
  std::vector<uint8_t> is_data_;  // by text
};

double PageableShare(const TraceTimeline& timeline) {
  const GpuOpTable& ops = timeline.trace().gpu_ops;
  int64_t pageable = 0, pinned = 0;
  const RowRange rows = RowsWithin(ops.ts_ns, timeline.window.span);
  for (size_t row = rows.first; row < rows.last; ++row) {
    if (ops.copy_kind[row] == CopyKind::kHtoDPageable) pageable += ops.dur_ns[row];
    if (ops.copy_kind[row] == CopyKind::kHtoDPinned) pinned += ops.dur_ns[row];
  }
  return ShareOf(pageable, pageable + pinned);
}

void AddRows(const TraceTimeline& timeline, TableOf<DataLoadingRows>& table) {
  const Trace& trace = timeline.trace();
  const Loading loading(timeline);
  std::vector<std::pair<Key, Group>> ordered(loading.groups.begin(), loading.groups.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  const auto steps = static_cast<int64_t>(timeline.window.steps.size()),
             devices = static_cast<int64_t>(timeline.devices.size());
  const double pageable = ordered.empty() ? 0 : PageableShare(timeline);
  for (const auto& [key, group] : ordered) {
    const std::string_view name = trace.Text(key.first);
    const bool single = name.find("SingleProcess") != name.npos, multi = name.find("MultiProcess") != name.npos;
    auto row = table.Row(*timeline.of);
    row.Set("name", name).Set("source_line", trace.Text(key.second)).Set("workers", single ? 0 : kAbsent);
    row.Set("multiprocess", single || multi ? multi : kAbsent).Set("calls", group.calls);
    row.Set("calls_per_step", ShareOf(group.calls, steps)).Set("total_ns", group.total_ns);
    row.Set("mean_ns", group.total_ns / group.calls).Set("max_ns", trace.slices.dur_ns[group.longest]);
    row.Set("idle_ns", MeanOf(group.idle_ns, devices)).Set("h2d_pageable_share", pageable);
    row.Set("slice_id", timeline.of->Id(SliceId(group.longest)));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<DataLoadingRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, table);
  return table;
}

}  // namespace

ANALYSIS(data_loading) = AnalysisOf<DataLoadingRows>({.run = Compute});

}  // namespace gapless::internal::data_loading_analysis
