// SPDX-License-Identifier: Apache-2.0
// Puts ranks into classes by their traits on a logarithmic scale, and takes the slowest of each.
#include "predict/rank_classes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/rows/ranks.h"
#include "trace/summary.h"

namespace gapless::internal {
namespace {

// Collectives are counted, the others fall into cells of a share of `width`.
int64_t ToInt(size_t count) { return static_cast<int64_t>(count); }

using ClassKey = std::tuple<int64_t, int64_t, int64_t>;

int64_t CellOf(int64_t value, double width) {
  return value <= 0 ? -1 : std::llround(std::log(static_cast<double>(value)) / std::log1p(width));
}

// Returns the place of the member with most own work of each class.
std::vector<size_t> SlowestOfEach(std::span<const RankTraits> ranks, double width) {
  std::map<ClassKey, size_t> slowest;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankTraits& rank = ranks[i];
    const ClassKey key(rank.collectives, CellOf(rank.gpu_ops, width), CellOf(rank.own_ns, width));
    const auto [at, is_new] = slowest.try_emplace(key, i);
    if (!is_new && ranks[at->second].own_ns < rank.own_ns) at->second = i;
  }
  std::vector<size_t> places;
  for (const auto& [key, place] : slowest) places.push_back(place);
  return places;
}

}  // namespace

std::vector<size_t> FindRepresentatives(std::span<const RankTraits> ranks) {
  std::vector<size_t> places;
  for (size_t i = 0; i < ranks.size() && ranks.size() <= kMaxReplayedRanks; ++i) places.push_back(i);
  constexpr double kMaxWidth = 1e6;  // by then all cells are one; what is left differs in its collectives
  for (double width = kAlike; places.empty() && !ranks.empty(); width *= 2) {
    places = SlowestOfEach(ranks, width);
    if (places.size() >= kMaxReplayedRanks && width < kMaxWidth) places.clear();
  }
  places.push_back(0);
  std::ranges::sort(places);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  if (ranks.empty()) places.clear();
  return places;
}

std::vector<const RunTrace*> RepresentativesOf(Tables& tables, std::span<const RunTrace* const> candidates) {
  if (candidates.size() <= kMaxReplayedRanks) return {candidates.begin(), candidates.end()};
  const auto ranks = tables.Get<RanksRows>();
  std::unordered_map<int64_t, int64_t> own_ns;  // key: the recording; the slowest of its devices counts
  for (size_t row = 0; row < ranks.rows(); ++row) {
    const int64_t own = ranks.Int(row, "wall_ns") - ranks.Int(row, "exposed_comm_ns");
    int64_t& most = own_ns[ranks.Int(row, "trace")];
    most = std::max(most, own / std::max<int64_t>(1, ranks.Int(row, "steps")));
  }
  std::vector<RankTraits> traits;
  for (const RunTrace* of : candidates) {
    const auto own = own_ns.find(of->index);
    const Trace& trace = *of->trace;
    const bool light = trace.summary != nullptr;
    traits.push_back({.collectives = light ? trace.summary->rows.collective : ToInt(trace.collectives.size()),
                      .gpu_ops = light ? trace.summary->rows.gpu_op : ToInt(trace.gpu_ops.size()),
                      .own_ns = own == own_ns.end() ? 0 : own->second});
  }
  std::vector<const RunTrace*> chosen;
  for (const size_t place : FindRepresentatives(traits)) chosen.push_back(candidates[place]);
  return chosen;
}

}  // namespace gapless::internal
