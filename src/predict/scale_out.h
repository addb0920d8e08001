// SPDX-License-Identifier: Apache-2.0
// The step with other numbers of ranks: a recorded data-parallel job is simulated with each of them.
//
// Every rank keeps its batch (weak scaling). The ranks of a simulated job are copies of recorded ones, which work along
// their recorded graphs, so that what hides behind the backward pass goes on hiding there, and meet in the recorded
// collectives. Three things change:
//
//   transfers   latency(n) + bus bytes(n) ÷ bandwidth in place of the same for the recorded ranks: both are fitted to
//               the recorded collectives (fixes/common/collectives.h), and bus bytes are those of nccl-tests: 2(n−1)/n
//               of an all-reduce, (n−1)/n of a gather or scatter. Latency grows with the depth of a tree, log n, to a
//               power from 0 to 1.5. Beyond a node it doubles, and bandwidth is that of the link that is given.
//   arrivals    each copy's host and device take what ranks and steps that were recorded differ by (rank_spread.h): the
//               more ranks, the later the last one comes, and all wait for it.
//   shards      with sharded parameters the optimizer has recorded ranks ÷ n as much to do; gathers carry as much.
//
// The step is the mean of several simulations, each with its own draws of ranks, steps, latency and bandwidth; its 80 %
// interval is what they differ by, with the error of the replay and kMinScaleWidth. What was not recorded is not
// invented: ranks beyond a node over a link of unknown speed have a shortest step and nothing else, and a job that also
// communicates within parts of it (tensor, pipeline, expert parallel) is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/predictor.h"

namespace gapless::internal {

inline constexpr int kMaxSimulatedRanks = 1024;
inline constexpr size_t kMostSimulations = 24, kFewestSimulations = 6;
inline constexpr double kMinScaleWidth = 0.02;  // as a logarithm

struct ScaleOutOptions {
  std::vector<int> counts{1, 2, 4, 8, 16, 32};  // ascending, up to kMaxSimulatedRanks
  std::optional<int> per_node{};                // ranks of a node; absent: as many as the recorded hosts have
  std::optional<double> link_gbps{};            // bus bandwidth between nodes, 1e9 bytes a second; absent: not known
  uint64_t seed = 1;
};

// A value with its 80 % interval; an end that is absent is not known.
struct ScaleValue {
  std::optional<double> low{}, expected{}, high{};
};

struct ScalePoint {
  int ranks = 0, nodes = 0;
  ScaleValue step_ns{};
  ScaleValue efficiency{};  // step of the fewest ranks over this one
  std::string unknown{};    // why an end is absent
};

struct ScaleOut {
  int recorded = 0, per_node = 0;  // ranks
  bool is_sharded = false;
  double latency_ns = 0, bus_gbps = 0;  // of the recorded collectives
  std::vector<ScalePoint> points{};
  std::vector<std::string> assumptions{};  // sentences
};

// Only to be called if the self-check was passed. Time and memory grow with the counts and the recorded events.
Result<ScaleOut> PredictScaleOut(const Predictor& predictor, const ScaleOutOptions& options);

}  // namespace gapless::internal
