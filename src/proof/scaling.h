// SPDX-License-Identifier: Apache-2.0
// The same training with several numbers of ranks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/process_run.h"

namespace gapless::internal {

struct ScalingPoint {
  int ranks = 0;
  RunSample sample;
  double speedup = 0;     // throughput over that of the first point, by rank count
  double efficiency = 0;  // throughput per rank over that of the first point
};

struct ScalingCurve {
  // weak: every rank has as many samples a step as with the first count; strong: all ranks together have.
  enum class Kind { kWeak, kStrong, kUnknown } kind = Kind::kUnknown;
  std::vector<ScalingPoint> points;
  bool was_repeated = false;  // an efficiency above kMostEfficiency was measured a second time
};

// More than this is no efficiency, but a first count that was measured too slow, or a later one too fast.
inline constexpr double kMostEfficiency = 1.05;
// Why the curve is to be measured again, a sentence; empty: it is not.
std::string WhyToRepeat(const ScalingCurve& curve);

std::string_view NameOf(ScalingCurve::Kind kind);  // "weak", "strong", "unknown"

// Can WithRanks() say how it is started?
bool CanHaveRanks(const std::vector<std::string>& command);
// With {n} in the command that is the number of ranks; else a Python script is run by torch.distributed.run.
std::vector<std::string> WithRanks(const std::vector<std::string>& command, int ranks);
// `counts`: ascending, at least one. `on_count` is called before each run. An efficiency above kMostEfficiency is
// measured once more: the count that has it, and the first.
Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts,
                                    const std::function<void(int ranks)>& on_count = {});

}  // namespace gapless::internal
