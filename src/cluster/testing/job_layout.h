// SPDX-License-Identifier: Apache-2.0
// The layout of a simulated job: its process groups and the links that they use.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/testing/job_draws.h"
#include "cluster/testing/simulated_job.h"

namespace gapless::internal::testing {

enum class Dimension : uint8_t { kDefault, kData, kTensor, kPipeline, kExpert, kExpertData, kCount };
inline constexpr size_t kDimensionCount = static_cast<size_t>(Dimension::kCount);

enum class Exchange : uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSend, kReceive };

struct Place {
  int tensor = 0, data = 0, stage = 0;
};
Place PlaceOf(const JobLayout& layout, int rank);
int RankAt(const JobLayout& layout, Place place);

// Groups of a job, and by dimension the group of each rank; -1: it is in none.
struct Groups {
  std::vector<JobGroup> all{};
  std::array<std::vector<int>, kDimensionCount> of{};
};
Groups GroupsFor(const JobLayout& layout, GroupNames names);

// Draws a layout in which the fault can be told apart where there is one.
JobLayout DrawnLayout(const Draws& draws, int ranks, Fault fault);

// Pairs of ranks that send to each other: a rank and that of the next stage.
std::vector<std::pair<int, int>> PipelinePairs(const JobLayout& layout);

// Bandwidths, in bytes a nanosecond.
struct Network {
  std::vector<double> card{}, nvlink{};  // of each rank
  std::vector<double> leaf_share{};      // what is left of the links of a leaf switch to the outside
  double latency_ns = 14'000;

  // Time of an exchange within a group without noise. `bytes`: what one rank ends up with (gathers) or puts in.
  double ExchangeNs(Exchange what, double bytes, const std::vector<int>& ranks) const;

 private:
  double LinkOf(int rank, bool crosses) const;
};
bool CrossesHosts(const std::vector<int>& ranks);
bool CrossesLeaves(const std::vector<int>& ranks);

// Ranks that cannot be told from `rank` by the exchanges that a fault of its card (or NVLink) slows down; the leaf
// likewise. They include it.
std::vector<int> AlikeByCard(const JobLayout& layout, const Groups& groups, int rank);
std::vector<int> AlikeByNvlink(const JobLayout& layout, const Groups& groups, int rank);
std::vector<int> LeavesAlike(const JobLayout& layout, const Groups& groups, int leaf);
// Dimensions with a group that a fault of the links of these ranks slows down.
std::vector<std::string> SlowedDimensions(Fault fault, const Groups& groups, const std::vector<int>& ranks);

}  // namespace gapless::internal::testing
