// SPDX-License-Identifier: Apache-2.0
// Brings together what the ranks of a job recorded of their process groups.
#include "analyses/parallel_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyses/collective_match.h"
#include "analyses/columns.h"
#include "analyses/rows/collective_groups.h"
#include "base/strings.h"
#include "trace/identity.h"
#include "trace/process_groups.h"

namespace gapless::internal {
namespace {

// The traffic of one group in one recording.
struct GroupOnRank {
  std::string description{};
  std::vector<int64_t> ranks{};
  int64_t size = 0;
  GroupTraffic traffic{};
  double microbatches = 1;
};
using GroupsOfRank = std::map<std::string, GroupOnRank, std::less<>>;  // by the name of the process group

// Bytes of a microbatch. Shorter messages tell the next stage the shape of what follows.
constexpr int64_t kLeastMessage = 1024;

bool IsReduce(std::string_view kind) { return kind == "all_reduce" || kind == "reduce_scatter" || kind == "reduce"; }

// Kernels that route tokens to experts, or multiply the matrices of several at once.
bool IsExpertKernel(std::string_view name) {
  for (const std::string_view part : {"topk", "TopK", "moe", "MoE", "expert", "Expert", "grouped_gemm", "GroupedGemm"})
    if (name.find(part) != name.npos) return true;
  return false;
}

bool RunsExperts(const Trace& trace) {
  std::set<StringId> seen;
  for (const StringId name : trace.gpu_ops.name)
    if (seen.insert(name).second && IsExpertKernel(trace.Text(name))) return true;
  return false;
}

// The names of kernels that compute, sorted.
std::vector<std::string_view> KernelsOf(const Trace& trace) {
  std::set<StringId> ids;
  for (size_t row = 0; row < trace.gpu_ops.size(); ++row)
    if (trace.gpu_ops.kind[row] == GpuOpKind::kKernel && trace.gpu_ops.op_class[row] != GpuOpClass::kCommunication)
      ids.insert(trace.gpu_ops.name[row]);
  std::set<std::string_view> names;
  for (const StringId id : ids) names.insert(trace.Text(id));
  return {names.begin(), names.end()};
}

// The rows of one group in a recording's window.
class RowsOfGroup {
 public:
  void Add(const CollectiveTable& all, size_t row, std::string_view kind) {
    const int64_t bytes = all.bytes[row];
    const int64_t counts = bytes == kAbsent || bytes >= kLeastMessage ? 1 : 0;
    const bool both = kind == "send_recv" && (all.src_rank[row] != kAbsent32 || all.dst_rank[row] != kAbsent32);
    batches_ += both ? 1 : 0;
    if (kind == "send" || both) sends_[all.dst_rank[row]] += counts;
    if (kind == "recv" || both) receives_[all.src_rank[row]] += counts;
    if (!IsReduce(kind)) return;
    begins_.push_back(all.ts_ns[row]);
    ++sizes_[all.bytes[row]];
  }

  void Finish(double step_ns, int64_t steps, GroupOnRank& group) const {
    for (size_t i = 1; i < begins_.size(); ++i) {
      const auto pause = static_cast<double>(begins_[i] - begins_[i - 1]);
      group.traffic.pauses += pause >= 0.2 * step_ns ? 1 : 0;
      group.traffic.long_pauses += pause >= 0.35 * step_ns ? 1 : 0;
    }
    group.traffic.sends += batches_;
    for (const auto& [bytes, count] : sizes_) group.traffic.same_size = std::max(group.traffic.same_size, count);
    for (const auto& [peer, count] : sends_)
      if (peer != kAbsent32 && receives_.contains(peer)) group.traffic.both_ways = true;
    for (const auto* messages : {&sends_, &receives_})
      for (const auto& [peer, count] : *messages)
        if (steps > 0)
          group.microbatches = std::max(group.microbatches, static_cast<double>(count) / static_cast<double>(steps));
  }

 private:
  std::vector<int64_t> begins_{};
  std::map<int64_t, int64_t> sizes_{};
  std::map<int32_t, int64_t> sends_{}, receives_{};
  int64_t batches_ = 0;  // kernels that send and receive
};

void AddRows(const TraceTimeline& timeline, GroupsOfRank& groups) {
  const Trace& trace = timeline.trace();
  const CollectiveTable& all = trace.collectives;
  std::unordered_map<uint32_t, RowsOfGroup> rows;  // by the name's id
  std::unordered_map<uint32_t, StringId> lists;
  const RowRange range = RowsWithin(all.ts_ns, timeline.window.span);
  for (size_t row = range.first; row < range.last; ++row) {
    const auto id = static_cast<uint32_t>(all.group[row]);
    rows[id].Add(all, row, trace.Text(all.kind[row]));
    if (all.group_ranks[row] != StringId::kNone) lists[id] = all.group_ranks[row];
  }
  const auto steps = static_cast<int64_t>(timeline.window.steps.size());
  const double step_ns =
      static_cast<double>(timeline.window.span.length()) / static_cast<double>(std::max<int64_t>(1, steps));
  for (const auto& [id, of] : rows) {
    const std::string_view name = trace.Text(static_cast<StringId>(id));
    const auto found = groups.find(name);
    if (found == groups.end()) continue;
    of.Finish(step_ns, steps, found->second);
    if (found->second.ranks.empty() && lists.contains(id)) found->second.ranks = RanksInText(trace.Text(lists.at(id)));
  }
}

// Adds the row of table collective_groups of one kind.
void AddKind(const CollectiveGroupsRows& rows, size_t row, GroupTraffic& traffic) {
  const std::string_view kind = rows.Text(row, "kind");
  const int64_t calls = rows.Int(row, "calls");
  traffic.calls += calls, traffic.total_ns += rows.Int(row, "total_ns"),
      traffic.exposed_ns += rows.Int(row, "exposed_ns");
  traffic.wait_ns += rows.Int(row, "wait_ns"), traffic.matched += rows.Int(row, "matched");
  if (kind == "all_to_all") traffic.all_to_alls += calls;
  if (kind == "all_gather") traffic.gathers += calls;
  if (kind == "send") traffic.sends += calls;
  if (kind == "recv") traffic.receives += calls;
  if (!IsReduce(kind)) return;
  traffic.reduces += calls, traffic.reduced_bytes += rows.Int(row, "bytes");
  traffic.reduce_ns += rows.Int(row, "total_ns"), traffic.exposed_reduce_ns += rows.Int(row, "exposed_ns");
}

std::vector<GroupsOfRank> GroupsOfRanks(Tables& tables) {
  const auto& timelines = tables.Timelines();
  std::vector<GroupsOfRank> all(timelines.size());
  std::map<int64_t, size_t> places;  // by recording
  for (size_t i = 0; i < timelines.size(); ++i) {
    places[timelines[i].of->index] = i;
    for (ProcessGroup& group : ProcessGroupsOf(timelines[i].trace()))
      all[i][group.name] = {.description = group.description, .ranks = std::move(group.ranks), .size = 0};
  }
  const auto rows = tables.Get<CollectiveGroupsRows>();
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto place = places.find(rows.Int(row, "trace"));
    if (place == places.end()) continue;
    GroupOnRank& group = all[place->second][std::string(rows.Text(row, "group"))];
    group.size = std::max(group.size, rows.Int(row, "group_size"));
    AddKind(rows, row, group.traffic);
  }
  for (size_t i = 0; i < timelines.size(); ++i) AddRows(timelines[i], all[i]);
  for (GroupsOfRank& groups : all)
    for (auto& [name, group] : groups) {
      std::ranges::sort(group.ranks);
      group.size = std::max<int64_t>(group.size, static_cast<int64_t>(group.ranks.size()));
    }
  return all;
}

void Add(const GroupTraffic& one, GroupTraffic& sum) {
  sum.calls += one.calls, sum.total_ns += one.total_ns, sum.exposed_ns += one.exposed_ns;
  sum.wait_ns += one.wait_ns, sum.matched += one.matched;
  sum.reduces += one.reduces, sum.gathers += one.gathers, sum.all_to_alls += one.all_to_alls;
  sum.sends += one.sends, sum.receives += one.receives;
  sum.reduced_bytes += one.reduced_bytes, sum.reduce_ns += one.reduce_ns;
  sum.exposed_reduce_ns += one.exposed_reduce_ns, sum.same_size += one.same_size, sum.pauses += one.pauses;
  sum.long_pauses += one.long_pauses;
  sum.both_ways |= one.both_ways;
}

// The ranks of a group that no recording lists: all that recorded it, if they are as many as it has.
void CompleteRanks(const std::vector<TraceTimeline>& timelines, ParallelGroup& group) {
  std::set<int64_t> ranks;
  for (const size_t place : group.recorded)
    if (const int64_t rank = timelines[place].of->rank(); rank != kAbsent) ranks.insert(rank);
  if (group.ranks.empty() && static_cast<int64_t>(ranks.size()) == group.size)
    group.ranks.assign(ranks.begin(), ranks.end());
}

void AddFacts(const std::vector<TraceTimeline>& timelines, ParallelGroup& group) {
  std::set<std::string> hosts;
  std::set<int64_t> ranks;
  std::set<std::vector<std::string_view>> kernels;
  for (const size_t place : group.recorded) {
    const Trace& trace = timelines[place].trace();
    hosts.insert(std::string(IdentityOf(trace).host));
    ranks.insert(timelines[place].of->rank());
    group.traffic.expert_kernels |= group.traffic.all_to_alls > 0 && RunsExperts(trace);
    if (group.traffic.both_ways) kernels.insert(KernelsOf(trace));
  }
  group.one_host = hosts.size() == 1 && !hosts.begin()->empty() && static_cast<int64_t>(ranks.size()) == group.size;
  group.traffic.kernels_differ = kernels.size() > 1;
}

// A group is that of one name and of the same ranks.
std::vector<ParallelGroup> Together(const std::vector<TraceTimeline>& timelines, const std::vector<GroupsOfRank>& all) {
  std::map<std::pair<std::string, std::string>, ParallelGroup> groups;
  for (size_t i = 0; i < all.size(); ++i)
    for (const auto& [name, one] : all[i]) {
      const auto key = std::make_pair(name, one.ranks.empty() ? StrCat(one.size, " ranks") : RankStretches(one.ranks));
      ParallelGroup& group = groups[key];
      group.name = name, group.size = one.size, group.ranks = one.ranks;
      if (!one.description.empty()) group.description = one.description;
      const auto steps = static_cast<int64_t>(timelines[i].window.steps.size());
      if (steps > 0 && one.traffic.calls > 0) ++group.traffic.recordings, group.traffic.steps += steps;
      Add(one.traffic, group.traffic);
      group.recorded.push_back(i);
    }
  std::vector<ParallelGroup> kept;
  for (auto& [key, group] : groups) {
    CompleteRanks(timelines, group);
    AddFacts(timelines, group);
    if (group.size > 1 && (group.traffic.calls > 0 || DimensionByName(group.description))) kept.push_back(group);
  }
  std::ranges::stable_sort(kept, {}, &ParallelGroup::ranks);
  return kept;
}

// Each rank's microbatches are those of the group through which it gets them.
void SetMicrobatches(const std::vector<GroupsOfRank>& all, std::vector<ParallelGroup>& groups) {
  for (ParallelGroup& group : groups)
    for (const size_t place : group.recorded)
      for (const auto& [name, one] : all[place]) group.microbatches = std::max(group.microbatches, one.microbatches);
}

// The group with most traffic stands for a dimension that has several.
void SetPlaces(ParallelGroups& groups, size_t recordings) {
  std::array<int, kParallelDimensions> none{};
  none.fill(-1);
  groups.of.assign(recordings, none);
  for (size_t i = 0; i < groups.all.size(); ++i)
    for (const size_t place : groups.all[i].recorded) {
      int& of = groups.of[place][static_cast<size_t>(groups.all[i].dimension)];
      if (of < 0 || groups.all[i].traffic.total_ns > groups.all[static_cast<size_t>(of)].traffic.total_ns)
        of = static_cast<int>(i);
    }
}

}  // namespace

ParallelGroups ParallelGroupsOf(Tables& tables) {
  const auto& timelines = tables.Timelines();
  const std::vector<GroupsOfRank> of_ranks = GroupsOfRanks(tables);
  ParallelGroups groups{.all = Together(timelines, of_ranks)};
  SetMicrobatches(of_ranks, groups.all);
  InferDimensions(groups.all);
  SetPlaces(groups, timelines.size());
  return groups;
}

}  // namespace gapless::internal
