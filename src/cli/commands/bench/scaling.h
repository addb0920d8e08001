// SPDX-License-Identifier: Apache-2.0
// `bench --scaling`: the same training with several numbers of ranks.
#pragma once

#include <string>
#include <vector>

#include "cli/benchmark.h"

namespace gapless::internal {

inline constexpr OptionSpec kScalingOption = {.name = "scaling",
                                              .takes = kTakesValue,
                                              .value = "LIST",
                                              .help = "Measure with so many ranks each, by torchrun: 1,2,4,8",
                                              .is_list = true};

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
};

// The counts of --scaling, ascending; empty without it. An error when the command cannot be started with several ranks.
Result<std::vector<int>> ScalingFrom(const Arguments& arguments, const RunRequest& request);
// With {n} in the command that is the number of ranks; else a Python script is run by torch.distributed.run.
std::vector<std::string> WithRanks(const std::vector<std::string>& command, int ranks);
Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, const Session& session);

std::string ScalingText(const ScalingCurve& curve);
std::string ScalingJson(const ScalingCurve& curve);

}  // namespace gapless::internal
