// SPDX-License-Identifier: Apache-2.0
// The same training with several numbers of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  // 95 % interval of the efficiency over the rounds, as above: Student's t on the logarithms. Absent with one round,
  // and of the first count, which is 1 by definition.
  std::optional<double> efficiency_low{}, efficiency_high{};
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

// The command says by {batch} where the samples of a rank go.
bool HasBatchPlace(const std::vector<std::string>& command);
// Returns the command with `batch` in place of {batch}.
std::vector<std::string> WithBatch(const std::vector<std::string>& command, int64_t batch);
// Returns the samples of each rank: `batch` with weak scaling, with strong scaling as many in all ranks as the first
// count has with `batch` each. An error: they cannot be divided evenly. `counts`: ascending, at least one.
Result<std::vector<int64_t>> BatchesOf(ScalingCurve::Kind kind, const std::vector<int>& counts, int64_t batch);
// Returns the curve of several rounds, in each of which every count was measured once. A point has the sample with the
// median throughput of its count, and the range of its efficiencies. `rounds`: at least one, all with the same counts.
ScalingCurve CurveOf(std::vector<std::vector<ScalingPoint>> rounds);

// Measures every count in each of `rounds` rounds. `counts`: ascending, at least one. `on_count` is called before each
// run. An efficiency above kMaxEfficiency in a single round is measured once more: the count that has it, and the
// first.
Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, size_t rounds = 1,
                                    const std::function<void(int ranks)>& on_count = {});

struct ScalingPlan {
  std::vector<int> counts{};         // ascending, at least one
  std::vector<int64_t> batches{};    // for {batch}, one for each count; empty: the command has no place for it
  size_t rounds = 1;                 // at most
  std::optional<double> budget_s{};  // no round begins that would end later, but the first
};
// Starts a command with `ranks` ranks and `batch` samples each (0: as it is), and measures it.
using ScalingRun = std::function<Result<RunSample>(int ranks, int64_t batch)>;
// The same as planned, with runs of `run`.
Result<ScalingCurve> MeasureScaling(const ScalingPlan& plan, const ScalingRun& run);
// A run of `request` with a number of ranks, for MeasureScaling(); one without steps is an error.
Result<RunSample> RunWithRanks(const RunRequest& request, int ranks, int64_t batch);

}  // namespace gapless::internal
