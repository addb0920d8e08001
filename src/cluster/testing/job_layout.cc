// SPDX-License-Identifier: Apache-2.0
// Lays out simulated jobs, and says which of their exchanges a slow link makes slower.
#include "cluster/testing/job_layout.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace gapless::internal::testing {
namespace {

struct DimensionNames {
  std::string_view dimension, megatron, mesh;
};
constexpr DimensionNames kDimensionNames[kDimensionCount] = {
    {"default", "default_pg", "default_pg"},
    {"data", "DATA_PARALLEL_GROUP", "mesh_dp"},
    {"tensor", "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp"},
    {"pipeline", "PIPELINE_MODEL_PARALLEL_GROUP", "mesh_pp"},
    {"expert", "EXPERT_MODEL_PARALLEL_GROUP", "mesh_ep"},
    {"expert_data", "EXPERT_DATA_PARALLEL_GROUP", "mesh_edp"},
};

std::string_view DescriptionOf(Dimension dimension, GroupNames names) {
  const DimensionNames& of = kDimensionNames[static_cast<size_t>(dimension)];
  if (dimension == Dimension::kDefault || names == GroupNames::kMegatron) return of.megatron;
  return names == GroupNames::kDeviceMesh ? of.mesh : "undefined";
}

// The ranks with one key are a group; groups are in the order of their first rank.
void AddGroups(Dimension dimension, GroupNames names, int ranks, const std::function<int(int)>& key, Groups& groups) {
  std::map<int, int> places;
  auto& of = groups.of[static_cast<size_t>(dimension)];
  of.assign(static_cast<size_t>(ranks), -1);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto [at, is_new] = places.try_emplace(key(rank), static_cast<int>(groups.all.size()));
    if (is_new)
      groups.all.push_back({.dimension = std::string(kDimensionNames[static_cast<size_t>(dimension)].dimension),
                            .name = std::to_string(groups.all.size()),
                            .description = std::string(DescriptionOf(dimension, names)),
                            .ranks = {}});
    groups.all[static_cast<size_t>(at->second)].ranks.push_back(rank);
    of[static_cast<size_t>(rank)] = at->second;
  }
}

bool Holds(const std::vector<int>& ranks, const std::function<bool(int)>& is_slow) {
  return std::ranges::any_of(ranks, is_slow);
}

// The exchanges, by number, in which a link takes part that is slow.
std::set<int> SlowedBy(const JobLayout& layout, const Groups& groups, const std::function<bool(int)>& is_slow,
                       const std::function<bool(const std::vector<int>&)>& uses) {
  std::set<int> slowed;
  for (size_t place = 0; place < groups.all.size(); ++place) {
    const JobGroup& group = groups.all[place];
    if (group.dimension == "pipeline" || group.dimension == "default") continue;
    if (group.ranks.size() > 1 && uses(group.ranks) && Holds(group.ranks, is_slow))
      slowed.insert(static_cast<int>(place));
  }
  int number = static_cast<int>(groups.all.size());
  for (const auto& [from, to] : PipelinePairs(layout)) {
    const std::vector<int> both{from, to};
    if (uses(both) && Holds(both, is_slow)) slowed.insert(number);
    ++number;
  }
  return slowed;
}

std::vector<int> RanksAlike(const JobLayout& layout, const Groups& groups, int rank,
                            const std::function<bool(const std::vector<int>&)>& uses) {
  const auto slowed_by = [&](int one) {
    return SlowedBy(
        layout, groups, [=](int of) { return of == one; }, uses);
  };
  const std::set<int> slowed = slowed_by(rank);
  std::vector<int> alike;
  for (int other = 0; other < layout.ranks(); ++other)
    if (other == rank || slowed_by(other) == slowed) alike.push_back(other);
  return alike;
}

int Drawn(const Draws& draws, std::vector<int> choices, uint64_t what) {
  return choices[static_cast<size_t>(draws.Index(static_cast<int>(choices.size()), Draw::kLayout, what))];
}

// Returns those of 2, 4, 8 … for which `at_least` data ranks are left.
std::vector<int> Sizes(std::vector<int> sizes, int ranks, int at_least) {
  std::erase_if(sizes, [&](int size) { return ranks % size != 0 || ranks / size < at_least; });
  return sizes.empty() ? std::vector<int>{1} : sizes;
}

JobLayout PipelineLayout(const Draws& draws, int ranks) {
  JobLayout layout;
  layout.tensor = Drawn(draws, Sizes({4, 8, 8}, ranks, 4), 1);
  layout.pipeline = Drawn(draws, Sizes({2, 4, 8}, ranks / layout.tensor, 2), 2);
  layout.data = ranks / layout.tensor / layout.pipeline;
  layout.microbatches = std::min(8, std::max(2, layout.pipeline) * Drawn(draws, {1, 2}, 3));
  layout.sequence_parallel = draws.Chance(0.3, Draw::kLayout, 4);
  return layout;
}

enum Shape : uint8_t { kPureData, kTensorData, kPipelined, kExperts };

std::vector<int> ShapesFor(Fault fault, int ranks) {
  if (ranks < kGpusPerHost * 2) return {kPureData};
  switch (fault) {
    case Fault::kSlowLink: return {kPipelined, kPipelined, kExperts};
    case Fault::kSlowSwitch: return {kPipelined};
    case Fault::kSlowNvlink: return {kTensorData, kPipelined};
    default: return {kPureData, kTensorData, kPipelined, kPipelined, kExperts};
  }
}

}  // namespace

Place PlaceOf(const JobLayout& layout, int rank) {
  return {.tensor = rank % layout.tensor,
          .data = rank / layout.tensor % layout.data,
          .stage = rank / layout.tensor / layout.data};
}

int RankAt(const JobLayout& layout, Place place) {
  return place.tensor + layout.tensor * (place.data + layout.data * place.stage);
}

Groups GroupsFor(const JobLayout& layout, GroupNames names) {
  Groups groups;
  const int ranks = layout.ranks();
  const auto place = [&](int rank) { return PlaceOf(layout, rank); };
  AddGroups(
      Dimension::kDefault, names, ranks, [](int) { return 0; }, groups);
  AddGroups(
      Dimension::kData, names, ranks, [&](int r) { return place(r).tensor + layout.tensor * place(r).stage; }, groups);
  if (layout.tensor > 1)
    AddGroups(
        Dimension::kTensor, names, ranks, [&](int r) { return r / layout.tensor; }, groups);
  if (layout.pipeline > 1)
    AddGroups(
        Dimension::kPipeline, names, ranks, [&](int r) { return r % (layout.tensor * layout.data); }, groups);
  if (layout.expert > 1) {
    const auto row = [&](int r) { return place(r).tensor + layout.tensor * place(r).stage; };
    const int blocks = layout.data / layout.expert;
    AddGroups(
        Dimension::kExpert, names, ranks, [&](int r) { return row(r) * blocks + place(r).data / layout.expert; },
        groups);
    AddGroups(
        Dimension::kExpertData, names, ranks,
        [&](int r) { return row(r) * layout.expert + place(r).data % layout.expert; }, groups);
  }
  return groups;
}

JobLayout DrawnLayout(const Draws& draws, int ranks, Fault fault) {
  JobLayout layout{.data = ranks};
  switch (Drawn(draws, ShapesFor(fault, ranks), 0)) {
    case kTensorData:
      layout.tensor = Drawn(draws, Sizes({8}, ranks, 2), 5);
      layout.data = ranks / layout.tensor;
      layout.sequence_parallel = draws.Chance(0.3, Draw::kLayout, 4);
      return layout;
    case kPipelined: return PipelineLayout(draws, ranks);
    case kExperts:  // experts of one host leave a card to one family of groups alone
      layout.expert =
          Drawn(draws, Sizes(fault == Fault::kSlowLink ? std::vector{16, 32} : std::vector{8, 16, 32}, ranks, 2), 6);
      return layout;
    default: layout.sharded = draws.Chance(0.4, Draw::kLayout, 7); return layout;
  }
}

std::vector<std::pair<int, int>> PipelinePairs(const JobLayout& layout) {
  std::vector<std::pair<int, int>> pairs;
  const int stride = layout.tensor * layout.data;
  for (int rank = 0; rank + stride < layout.ranks(); ++rank) pairs.emplace_back(rank, rank + stride);
  return pairs;
}

bool CrossesHosts(const std::vector<int>& ranks) {
  return std::ranges::any_of(ranks, [&](int rank) { return HostOf(rank) != HostOf(ranks[0]); });
}

bool CrossesLeaves(const std::vector<int>& ranks) {
  return std::ranges::any_of(ranks, [&](int rank) { return LeafOf(rank) != LeafOf(ranks[0]); });
}

double Network::LinkOf(int rank, bool crosses) const {
  const double share = crosses ? leaf_share[static_cast<size_t>(LeafOf(rank))] : 1;
  return card[static_cast<size_t>(rank)] * share;
}

// Rings lead through the cards of all members of a host, so a group with several of them on each host has the bandwidth
// of all their cards, as far as the slowest allows.
double Network::ExchangeNs(Exchange what, double bytes, const std::vector<int>& ranks) const {
  const auto n = static_cast<double>(ranks.size());
  const bool hosts = CrossesHosts(ranks), leaves = CrossesLeaves(ranks);
  double slowest = 1e30;
  std::map<int, int> members;
  for (const int rank : ranks) {
    slowest = std::min(slowest, hosts ? LinkOf(rank, leaves) : nvlink[static_cast<size_t>(rank)]);
    ++members[HostOf(rank)];
  }
  const bool rings = what == Exchange::kAllReduce || what == Exchange::kAllGather || what == Exchange::kReduceScatter;
  if (hosts && rings) {
    int fewest = kGpusPerHost;
    for (const auto& [host, count] : members) fewest = std::min(fewest, count);
    slowest *= fewest;
  }
  double factor = (n - 1) / n;
  if (what == Exchange::kAllReduce) factor *= 2;
  if (what == Exchange::kSend || what == Exchange::kReceive) factor = 1;
  return latency_ns * (hosts ? 2 : 1) + bytes * factor / slowest;
}

std::vector<int> AlikeByCard(const JobLayout& layout, const Groups& groups, int rank) {
  return RanksAlike(layout, groups, rank, CrossesHosts);
}

std::vector<int> AlikeByNvlink(const JobLayout& layout, const Groups& groups, int rank) {
  return RanksAlike(layout, groups, rank, [](const std::vector<int>& ranks) { return !CrossesHosts(ranks); });
}

std::vector<int> LeavesAlike(const JobLayout& layout, const Groups& groups, int leaf) {
  const auto slowed_by = [&](int one) {
    return SlowedBy(
        layout, groups, [=](int rank) { return LeafOf(rank) == one; }, CrossesLeaves);
  };
  std::vector<int> alike;
  const int leaves = LeafOf(layout.ranks() - 1) + 1;
  for (int other = 0; other < leaves; ++other)
    if (slowed_by(other) == slowed_by(leaf)) alike.push_back(other);
  return alike;
}

std::vector<std::string> SlowedDimensions(Fault fault, const Groups& groups, const std::vector<int>& ranks) {
  std::set<std::string> dimensions;
  const auto uses = [&](const std::vector<int>& members) {
    if (fault == Fault::kSlowSwitch) return CrossesLeaves(members);
    return members.size() > 1 && CrossesHosts(members) == (fault == Fault::kSlowLink);
  };
  const auto is_slow = [&](int rank) { return std::ranges::find(ranks, rank) != ranks.end(); };
  for (const JobGroup& group : groups.all)
    if (group.dimension != "default" && uses(group.ranks) && Holds(group.ranks, is_slow))
      dimensions.insert(group.dimension);
  return {dimensions.begin(), dimensions.end()};
}

}  // namespace gapless::internal::testing
