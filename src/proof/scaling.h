// SPDX-License-Identifier: Apache-2.0
// The same training with several numbers of ranks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/run_once.h"

namespace gapless::internal {

// A ScalingPoint is what one number of ranks showed.
struct ScalingPoint {
  int ranks = 0;
  RunSample sample;
  double speedup = 0;     // throughput over that of the first point, by rank count
  double efficiency = 0;  // throughput per rank over that of the first point
  // Lowest and highest efficiency over the rounds, each beside the first count of its own round; 0 with one round.
  double lowest_efficiency = 0, highest_efficiency = 0;
};

struct ScalingCurve {
  // weak: every rank has as many samples a step as with the first count; strong: all ranks together have.
  enum class Kind { kWeak, kStrong, kUnknown } kind = Kind::kUnknown;
  std::vector<ScalingPoint> points;
  size_t rounds = 1;
  bool was_repeated = false;  // an efficiency above kMaxEfficiency was measured a second time
};

// More than this is no efficiency, but a first count that was measured too slow, or a later one too fast.
inline constexpr double kMaxEfficiency = 1.05;
// Returns the reason why the curve should be measured again, as a sentence; empty if it is consistent.
std::string WhyToRepeat(const ScalingCurve& curve);

std::string_view NameOf(ScalingCurve::Kind kind);  // "weak", "strong", "unknown"

// Returns true if WithRanks() can start the command with several ranks.
bool CanHaveRanks(const std::vector<std::string>& command);
// Returns the command with this number of ranks: {n} in it is replaced; without {n} a Python script is run by
// torch.distributed.run. Only for commands of which CanHaveRanks() is true.
std::vector<std::string> WithRanks(const std::vector<std::string>& command, int ranks);
// Returns the curve of several rounds, in each of which every count was measured once. A point has the sample with the
// median throughput of its count, and the range of its efficiencies. `rounds`: at least one, all with the same counts.
ScalingCurve CurveOf(std::vector<std::vector<ScalingPoint>> rounds);

// Measures every count in each of `rounds` rounds. `counts`: ascending, at least one. `on_count` is called before each
// run. An efficiency above kMaxEfficiency in a single round is measured once more: the count that has it, and the
// first.
Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, size_t rounds = 1,
                                    const std::function<void(int ranks)>& on_count = {});

}  // namespace gapless::internal
