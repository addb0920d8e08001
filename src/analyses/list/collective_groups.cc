// SPDX-License-Identifier: Apache-2.0
// Collectives by process group and kind: how fast the links carried them, and how long this rank waited in them for
// others. A collective's kernel also runs while it waits for the last rank; matching the ranks separates the two
// (collective_match.h), so bandwidth here is over the transfer alone where it is known. In a run of summaries, what a
// recording knows alone is taken from its summary, and what the match says comes from the collectives of all.
#include "analyses/rows/collective_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/bandwidth.h"
#include "analyses/collective_match.h"
#include "analyses/columns.h"
#include "analyses/gather.h"

namespace gapless::internal::collective_groups_analysis {
namespace {

// Messages below this take a time that hardly depends on their size (latency of NCCL's rings and trees; its bandwidth
// curves flatten out from about 1 MB).
constexpr int64_t kSmallBytes = int64_t{256} * 1024;
// From here the links' speed counts for more than latency.
constexpr int64_t kLargeBytes = int64_t{1024} * 1024;

struct Group {
  int32_t size = kAbsent32;
  int64_t calls = 0, matched = 0, compared = 0, bytes = kAbsent, small = 0;
  int64_t transfer_ns = 0, wait_ns = 0, opening_ns = 0, lag_ns = 0, times_last = 0, times_first = 0;
  int64_t timed_ns = 0, timed_bytes = 0;
  double bus_bytes = 0;
  double best_gbps = std::numeric_limits<double>::quiet_NaN();
  int64_t best_bytes = kAbsent;
  Intervals spans;
  std::vector<Interval> small_spans;  // without waiting, so not in order
  uint32_t longest = 0;
};
using Key = std::tuple<int32_t, std::string_view, std::string_view, std::string_view>;  // device, backend, group, kind

std::string_view BackendOf(const Trace& trace, uint32_t row) {
  if (trace.collectives.device[row] != kAbsent32) return {};
  const std::string_view name = trace.Text(trace.collectives.name[row]);
  return name.substr(0, std::min(name.size(), name.find(':')));
}

void AddMatch(const CollectiveMatch& match, Group& group) {
  if (match.transfer_ns == kAbsent) return;
  ++group.matched;
  group.transfer_ns += match.transfer_ns;
  (match.opening ? group.opening_ns : group.wait_ns) += match.wait_ns;
  if (match.opening) return;
  ++group.compared;
  group.lag_ns += match.start_lag_ns, group.times_last += match.last, group.times_first += match.first;
}

void AddLarge(int64_t bytes, double factor, int64_t time_ns, Group& group) {
  const double gbps = AlgorithmBandwidthGbps(bytes, time_ns) * factor;
  if (bytes < kLargeBytes || !(gbps > 0) || gbps <= group.best_gbps) return;
  group.best_gbps = gbps, group.best_bytes = bytes;
}

// A call that never ended, or of which nobody knows when.
void AddUntimed(const CollectiveTable& all, uint32_t row, Group& group) {
  if (group.calls++ == 0) group.longest = row;
  group.size = std::max(group.size, all.group_size[row]);
}

void AddCall(const CollectiveTable& all, uint32_t row, const CollectiveMatch& match, std::string_view kind,
             Group& group) {
  if (all.dur_ns[row] == kAbsent) return AddUntimed(all, row, group);
  const Interval span{all.ts_ns[row], all.ts_ns[row] + all.dur_ns[row]};
  if (group.calls++ == 0 || all.dur_ns[row] > all.dur_ns[group.longest]) group.longest = row;
  group.size = std::max(group.size, all.group_size[row]);
  AppendMerged(group.spans, span);
  AddMatch(match, group);
  const int64_t bytes = all.bytes[row];
  if (bytes == kAbsent) return;
  group.bytes = std::max<int64_t>(group.bytes, 0) + bytes;
  group.timed_bytes += bytes;
  const double factor = BusFactor(kind, all.group_size[row]);
  const int64_t time_ns = match.transfer_ns != kAbsent ? match.transfer_ns : all.dur_ns[row];
  group.bus_bytes += static_cast<double>(bytes) * factor;
  group.timed_ns += time_ns;
  AddLarge(bytes, factor, time_ns, group);
  if (bytes >= kSmallBytes) return;
  ++group.small;
  group.small_spans.push_back({span.start + std::max<int64_t>(match.wait_ns, 0), span.end});
}

std::map<Key, Group> GroupsOf(const TraceTimeline& timeline, const std::vector<CollectiveMatch>& matches) {
  const Trace& trace = timeline.trace();
  const CollectiveTable& all = trace.collectives;
  std::map<Key, Group> groups;
  const RowRange rows = RowsWithin(all.ts_ns, timeline.window.span);
  for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
    const std::string_view kind = trace.Text(all.kind[row]);
    AddCall(all, row, matches[row], kind,
            groups[{all.device[row], BackendOf(trace, row), trace.Text(all.group[row]), kind}]);
  }
  return groups;
}

// Answers for any number of groups what the devices did meanwhile; each answer costs what the group's own calls cost.
class Meanwhile {
 public:
  explicit Meanwhile(const TraceTimeline& timeline) : timeline_(timeline), idle_(GapsOf(timeline)) {
    for (const DeviceTimeline& device : timeline.devices) compute_.emplace_back(device.compute);
  }

  // Returns the idle time of the mean device during calls of the host; absent for calls of a device.
  int64_t IdleNs(int32_t device, const Intervals& spans) const {
    if (device != kAbsent32 || timeline_.devices.empty()) return kAbsent;
    int64_t idle_ns = 0;
    for (const Interval span : spans) idle_ns += idle_.In(span);
    return idle_ns / static_cast<int64_t>(timeline_.devices.size());
  }

  // Returns the time of calls of a device, within the window, during which it computes nothing; absent for others.
  int64_t ExposedNs(int32_t device, const Intervals& spans) const {
    const auto found = std::ranges::lower_bound(timeline_.devices, device, {}, &DeviceTimeline::device);
    if (found == timeline_.devices.end() || found->device != device) return kAbsent;
    if (timeline_.trace().summary)
      return Total(Intersect(Clip(spans, timeline_.window.span), found->exposed_communication));
    const IntervalSums& compute = compute_[static_cast<size_t>(found - timeline_.devices.begin())];
    int64_t exposed_ns = 0;
    for (const Interval span : Clip(spans, timeline_.window.span)) exposed_ns += span.length() - compute.In(span);
    return exposed_ns;
  }

 private:
  static std::vector<Interval> GapsOf(const TraceTimeline& timeline) {
    std::vector<Interval> gaps;
    for (const DeviceTimeline& device : timeline.devices)
      for (const IdleGap& gap : device.gaps) gaps.push_back(gap.span);
    return gaps;
  }

  const TraceTimeline& timeline_;
  OverlapSums idle_;                     // idle time of all devices
  std::vector<IntervalSums> compute_{};  // by device
};

// The row of each group in a recording's summary.
using OwnRows = std::map<Key, size_t>;

OwnRows OwnRowsOf(const CollectiveGroupsRows& own, std::span<const size_t> rows_of_trace) {
  OwnRows rows;
  for (const size_t row : rows_of_trace) {
    const int32_t device = own.IsNull(row, "device") ? kAbsent32 : static_cast<int32_t>(own.Int(row, "device"));
    const std::string_view kind = own.Text(row, "kind");
    rows[{device, own.Text(row, "backend"), own.Text(row, "group"), kind == "other" ? "" : kind}] = row;
  }
  return rows;
}

// OwnFacts is what a recording alone knows of a group.
struct OwnFacts {
  int64_t idle_ns = kAbsent, gpu_op_id = kAbsent, slice_id = kAbsent;
};

OwnFacts FactsOf(const CollectiveGroupsRows& own, size_t row) {
  const auto cell = [&](CollectiveGroupsRows::IntColumn column) {
    return own.IsNull(row, column) ? kAbsent : own.Int(row, column);
  };
  return {cell("idle_ns"), cell("gpu_op_id"), cell("slice_id")};
}

OwnFacts FactsOf(const TraceTimeline& timeline, const Meanwhile& meanwhile, int32_t device, const Group& group) {
  const CollectiveTable& all = timeline.trace().collectives;
  return {meanwhile.IdleNs(device, group.spans), timeline.of->Id(all.gpu_op[group.longest]),
          timeline.of->Id(all.slice[group.longest])};
}

void AddRow(const TraceTimeline& timeline, const Meanwhile& meanwhile, const Key& key, const Group& group,
            const OwnFacts& facts, TableOf<CollectiveGroupsRows>& table) {
  const auto& [device, backend, name, kind] = key;
  auto row = table.Row(*timeline.of);
  row.Set("device", device).Set("backend", backend).Set("group", name).Set("group_size", group.size);
  const CollectivesScale scaled(timeline.trace());
  row.Set("kind", kind.empty() ? "other" : kind).Set("calls", scaled(group.calls));
  row.Set("calls_per_step", ShareOf(scaled(group.calls), static_cast<int64_t>(timeline.window.steps.size())));
  row.Set("matched", scaled(group.matched)).Set("bytes", scaled(group.bytes));
  row.Set("total_ns", scaled(TotalIn(group.spans, timeline.window.span)));
  row.Set("exposed_ns", scaled(meanwhile.ExposedNs(device, group.spans)));
  if (group.matched > 0) {
    row.Set("transfer_ns", scaled(group.transfer_ns)).Set("wait_ns", scaled(group.wait_ns));
    row.Set("opening_wait_ns", group.opening_ns).Set("times_last", scaled(group.times_last));
    row.Set("times_first", scaled(group.times_first));
  }
  if (const auto timed = static_cast<double>(group.timed_ns); timed > 0)
    row.Set("algo_gbps", static_cast<double>(group.timed_bytes) / timed).Set("bus_gbps", group.bus_bytes / timed);
  row.Set("best_bus_gbps", group.best_gbps).Set("best_bytes", group.best_bytes);
  row.Set("start_lag_mean_ns", MeanOf(group.lag_ns, group.compared));
  if (group.bytes != kAbsent)
    row.Set("small_calls", scaled(group.small))
        .Set("small_exposed_ns", scaled(meanwhile.ExposedNs(device, Merge(group.small_spans))));
  row.Set("idle_ns", facts.idle_ns).Set("gpu_op_id", facts.gpu_op_id).Set("slice_id", facts.slice_id);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<CollectiveGroupsRows> table;
  const CollectiveMatches& matches = tables.OnceForRun(MatchPrimary);
  const Table* own = tables.of_summaries() ? &tables.OfSummaries(CollectiveGroupsRows::kName) : nullptr;
  const auto own_by_trace = own != nullptr ? std::optional(RowsByTrace(CollectiveGroupsRows(*own))) : std::nullopt;
  size_t position = 0;
  for (const TraceTimeline& timeline : tables.Timelines()) {
    const std::map<Key, Group> groups = GroupsOf(timeline, matches[position++]);
    std::vector<std::pair<int64_t, const std::pair<const Key, Group>*>> ordered;
    for (const auto& group : groups) ordered.emplace_back(-Total(group.second.spans), &group);
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (ordered.empty()) continue;
    const Meanwhile meanwhile(timeline);
    const OwnRows own_rows =
        own_by_trace ? OwnRowsOf(CollectiveGroupsRows(*own), own_by_trace->Of(timeline.of->index)) : OwnRows();
    for (const auto& [longest, one] : ordered) {
      const auto its = own_rows.find(one->first);
      const OwnFacts facts = its != own_rows.end() ? FactsOf(CollectiveGroupsRows(*own), its->second)
                                                   : FactsOf(timeline, meanwhile, std::get<0>(one->first), one->second);
      AddRow(timeline, meanwhile, one->first, one->second, facts, table);
    }
  }
  return table;
}

}  // namespace

ANALYSIS(collective_groups) = AnalysisOf<CollectiveGroupsRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::collective_groups_analysis
