// SPDX-License-Identifier: Apache-2.0
// The dimensions of a job: a row for each, and for each description and size of groups of which nobody knows what they
// are.
#include "analyses/rows/parallel_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyses/columns.h"
#include "analyses/parallel_groups.h"
#include "base/strings.h"
#include "trace/process_groups.h"

namespace gapless::internal::parallel_layout_analysis {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct DimensionSum {
  std::vector<const ParallelGroup*> groups{};
  GroupTraffic traffic{};

  int64_t total_ns() const { return traffic.total_ns; }
};

void AddTraffic(const GroupTraffic& one, GroupTraffic& sum) {
  sum.steps += one.steps, sum.calls += one.calls;
  sum.total_ns += one.total_ns, sum.exposed_ns += one.exposed_ns;
  sum.wait_ns += one.wait_ns, sum.matched += one.matched;
  sum.reduces += one.reduces, sum.gathers += one.gathers, sum.all_to_alls += one.all_to_alls;
  sum.sends += one.sends, sum.receives += one.receives;
}

std::string KindsOf(const GroupTraffic& traffic) {
  std::vector<std::string> kinds;
  if (traffic.reduces > 0) kinds.emplace_back("reduce");
  if (traffic.gathers > 0) kinds.emplace_back("all_gather");
  if (traffic.all_to_alls > 0) kinds.emplace_back("all_to_all");
  if (traffic.sends + traffic.receives > 0) kinds.emplace_back("send_recv");
  if (traffic.calls > traffic.reduces + traffic.gathers + traffic.all_to_alls + traffic.sends + traffic.receives)
    kinds.emplace_back("other");
  return Join(kinds, ", ");
}

// A known dimension is one row of the groups of the size that has most traffic, and most groups of equals; unknown
// groups are a row for each description and size.
using DimensionKey = std::tuple<ParallelDimension, std::string, int64_t>;

std::map<DimensionKey, DimensionSum> SumsOf(const ParallelGroups& groups) {
  std::map<DimensionKey, DimensionSum> sums;
  for (const ParallelGroup& group : groups.all) {
    const bool known = group.dimension != ParallelDimension::kUnknown;
    DimensionSum& sum = sums[{group.dimension, known ? "" : group.description, group.size}];
    sum.groups.push_back(&group);
    AddTraffic(group.traffic, sum.traffic);
  }
  const auto weight = [](const auto& entry) {
    return std::pair(entry.second.total_ns(), static_cast<int64_t>(entry.second.groups.size()));
  };
  for (auto at = sums.begin(); at != sums.end();) {
    const ParallelDimension dimension = std::get<0>(at->first);
    const bool beaten = dimension != ParallelDimension::kUnknown && std::ranges::any_of(sums, [&](const auto& other) {
                          return std::get<0>(other.first) == dimension && weight(other) > weight(*at);
                        });
    at = beaten ? sums.erase(at) : std::next(at);
  }
  return sums;
}

double BubbleShare(Tables& tables) {
  double sum = 0, count = 0;
  for (const ParallelShare& share : tables.OnceForRun(ParallelSharesOf))
    if (!std::isnan(share.bubble)) sum += share.bubble, ++count;
  return count > 0 ? sum / count : kNone;
}

template <class Row>
void SetPipeline(Tables& tables, Row& row) {
  const PipelineFill& fill = tables.OnceForRun(PipelineFillOf);
  row.Set("bubble_share", BubbleShare(tables));
  if (fill.microbatches > 0) row.Set("microbatches", fill.microbatches);
  if (fill.fill_ns > 0) row.Set("fill_ns", std::llround(fill.fill_ns));
}

struct Imbalance {
  double load = kNone;
  int64_t rank = kAbsent;
};

Imbalance WorstLoad(Tables& tables) {
  const auto& timelines = tables.Timelines();
  const ParallelShares& shares = tables.OnceForRun(ParallelSharesOf);
  Imbalance worst;
  for (size_t place = 0; place < shares.size(); ++place)
    if (shares[place].expert_load > (std::isnan(worst.load) ? 0 : worst.load))
      worst = {shares[place].expert_load, timelines[place].of->rank()};
  return worst;
}

void AddRow(const DimensionKey& key, const DimensionSum& sum, Tables& tables, TableOf<ParallelLayoutRows>& table) {
  const ParallelDimension dimension = std::get<0>(key);
  const ParallelGroup& first = *sum.groups.front();
  const GroupTraffic& traffic = sum.traffic;
  auto row = table.Row(*tables.Timelines()[first.recorded.front()].of);
  std::set<std::vector<int64_t>> different;
  for (const ParallelGroup* group : sum.groups) different.insert(group->ranks);
  const bool lists_all = !different.contains({});
  row.Set("dimension", NameOf(dimension)).Set("size", first.size);
  row.Set("groups", lists_all ? different.size() : sum.groups.size());
  row.Set("ranks", RankStretches(first.ranks)).Set("stride", first.stride());
  row.Set("known", kKnownByNames[static_cast<size_t>(first.by)]).Set("name", first.description);
  row.Set("kinds", KindsOf(traffic)).Set("calls_per_step", ShareOf(traffic.calls, traffic.steps));
  row.Set("time_ns", MeanOf(traffic.total_ns, traffic.steps));
  row.Set("exposed_ns", MeanOf(traffic.exposed_ns, traffic.steps));
  if (traffic.matched > 0) row.Set("wait_ns", MeanOf(traffic.wait_ns, traffic.steps));
  if (dimension == ParallelDimension::kPipeline) SetPipeline(tables, row);
  if (dimension != ParallelDimension::kExpert) return;
  const Imbalance worst = WorstLoad(tables);
  row.Set("imbalance", worst.load).Set("busiest_rank", worst.rank);
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<ParallelLayoutRows> table;
  for (const auto& [key, sum] : SumsOf(tables.OnceForRun(ParallelGroupsOf))) AddRow(key, sum, tables, table);
  return table;
}

}  // namespace

ANALYSIS(parallel_layout) = AnalysisOf<ParallelLayoutRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::parallel_layout_analysis
