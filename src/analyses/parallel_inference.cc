// SPDX-License-Identifier: Apache-2.0
// Says for what a process group is there, from what goes on in it.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/parallel_groups.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

constexpr double kReducesOfALayer = 4;  // two blocks, forward and backward
constexpr double kMostlySameSize = 0.6;
constexpr double kHardlyHidden = 0.9;
constexpr double kPausesOfData = 0.5;  // a step: some are cut off, or hidden by waiting
constexpr double kLeastGradientBytes = 1e6;

double PartOf(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

bool LooksTensor(const ParallelGroup& group) {
  const GroupTraffic& traffic = group.traffic;
  const bool steady = group.microbatches > 1 || traffic.per_step(traffic.long_pauses) < kPausesOfData;
  return traffic.per_step(traffic.reduces) >= kReducesOfALayer * group.microbatches && steady &&
         PartOf(traffic.same_size, traffic.reduces) >= kMostlySameSize &&
         PartOf(traffic.exposed_reduce_ns, traffic.reduce_ns) >= kHardlyHidden;
}

bool LooksData(const ParallelGroup& group) {
  const GroupTraffic& traffic = group.traffic;
  if (traffic.reduces == 0 || traffic.per_step(traffic.reduced_bytes) < kLeastGradientBytes) return false;
  if (group.microbatches > 1) return traffic.per_step(traffic.reduces) < kReducesOfALayer * group.microbatches;
  return traffic.per_step(traffic.pauses) >= kPausesOfData;
}

ParallelDimension ByTraffic(const ParallelGroup& group) {
  const GroupTraffic& traffic = group.traffic;
  if (traffic.steps == 0 || traffic.calls == 0) return ParallelDimension::kUnknown;
  if (2 * (traffic.sends + traffic.receives) > traffic.calls)
    return traffic.both_ways && (group.size > 2 || traffic.kernels_differ) ? ParallelDimension::kPipeline
                                                                           : ParallelDimension::kUnknown;
  if (2 * traffic.all_to_alls > traffic.calls)
    return traffic.expert_kernels ? ParallelDimension::kExpert : ParallelDimension::kUnknown;
  if (LooksTensor(group)) return group.one_host ? ParallelDimension::kTensor : ParallelDimension::kUnknown;
  return LooksData(group) ? ParallelDimension::kData : ParallelDimension::kUnknown;
}

bool Contains(const std::vector<int64_t>& all, const std::vector<int64_t>& part) {
  return std::ranges::includes(all, part);
}

// Data groups of experts: a part of a larger data group, which the expert group makes whole.
void FindExpertData(std::vector<ParallelGroup>& groups) {
  for (ParallelGroup& small : groups) {
    if (small.dimension != ParallelDimension::kData || small.by != KnownBy::kTraffic || small.ranks.empty()) continue;
    const auto completes = [&](const ParallelGroup& expert, const ParallelGroup& large) {
      return expert.dimension == ParallelDimension::kExpert && large.dimension == ParallelDimension::kData &&
             large.size == small.size * expert.size && !expert.ranks.empty() && Contains(large.ranks, small.ranks) &&
             Contains(large.ranks, expert.ranks) && std::ranges::any_of(small.ranks, [&](int64_t rank) {
               return std::ranges::binary_search(expert.ranks, rank);
             });
    };
    for (const ParallelGroup& expert : groups)
      for (const ParallelGroup& large : groups)
        if (completes(expert, large)) small.dimension = ParallelDimension::kExpertData;
  }
}

// Groups of one kind, and which dimension each group of it shows.
using Alike = std::tuple<int64_t, int64_t, bool, bool, bool, bool>;

Alike KindOf(const ParallelGroup& group) {
  const GroupTraffic& traffic = group.traffic;
  return {group.size,          group.stride(),          traffic.reduces > 0,
          traffic.gathers > 0, traffic.all_to_alls > 0, traffic.sends + traffic.receives > 0};
}

void TakeTheMostFrequent(std::vector<ParallelGroup>& groups) {
  std::map<Alike, std::map<ParallelDimension, int>> shown;
  for (const ParallelGroup& group : groups)
    if (group.by != KnownBy::kName && group.traffic.steps > 0) ++shown[KindOf(group)][group.dimension];
  for (ParallelGroup& group : groups) {
    if (group.by == KnownBy::kName || group.traffic.steps == 0) continue;
    const auto& counts = shown[KindOf(group)];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& of) { return of.second; });
    int all = 0;
    for (const auto& [dimension, count] : counts) all += count;
    group.dimension = 2 * most->second > all ? most->first : ParallelDimension::kUnknown;
    group.by = group.dimension == ParallelDimension::kUnknown ? KnownBy::kNothing : KnownBy::kTraffic;
  }
}

}  // namespace

int64_t ParallelGroup::stride() const {
  if (ranks.size() < 2) return kAbsent;
  for (size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i] - ranks[i - 1] != ranks[1] - ranks[0]) return kAbsent;
  return ranks[1] - ranks[0];
}

void InferDimensions(std::vector<ParallelGroup>& groups) {
  for (ParallelGroup& group : groups) {
    if (const auto named = DimensionByName(group.description)) {
      group.dimension = *named, group.by = KnownBy::kName;
      continue;
    }
    group.dimension = ByTraffic(group);
    if (group.dimension != ParallelDimension::kUnknown) group.by = KnownBy::kTraffic;
  }
  TakeTheMostFrequent(groups);
  FindExpertData(groups);
}

}  // namespace gapless::internal
