// SPDX-License-Identifier: Apache-2.0
// Runs a command with several numbers of ranks in rounds, and computes efficiency as throughput per rank relative
// to the first number.
//
// Example: 100 samples/s with 1 rank and 360 with 4 are a speedup of 3.6 and an efficiency of 0.9. Whether the
// scaling is weak or strong is seen from the samples of a step, within 5 %. If the samples are not known, each
// rank is taken to have as many as before.
#include "proof/scaling.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/measure.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPlace = "{n}";
constexpr double kSameSamples = 0.05;

bool HasPlace(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find(kPlace) != word.npos; });
}

// Returns true for "python x.py" and "python -m x": torch.distributed.run starts both. Other options of python
// would be lost.
bool IsPythonScript(const std::vector<std::string>& command) {
  return command.size() > 1 && std::filesystem::path(command[0]).filename().string().starts_with("python") &&
         (command[1] == "-m" || !command[1].starts_with("-"));
}

double StepSeconds(const RunSample& sample) { return *TypicalValue(sample) / 1e3; }

// Samples of all ranks in one step.
double SamplesOf(const RunSample& sample) { return sample.samples_per_second.value_or(0) * StepSeconds(sample); }

void Judge(ScalingCurve& curve) {
  const ScalingPoint& base = curve.points.front();
  const bool known = std::all_of(curve.points.begin(), curve.points.end(),
                                 [](const ScalingPoint& point) { return point.sample.samples_per_second.has_value(); });
  const auto near = [](double a, double b) { return std::abs(a / b - 1) < kSameSamples; };
  bool weak = known, strong = known;
  for (ScalingPoint& point : curve.points) {
    const double more = static_cast<double>(point.ranks) / base.ranks;
    weak = weak && near(SamplesOf(point.sample), more * SamplesOf(base.sample));
    strong = strong && near(SamplesOf(point.sample), SamplesOf(base.sample));
    // Without a count of samples the ranks are taken to have as many each.
    point.speedup = known ? *point.sample.samples_per_second / *base.sample.samples_per_second
                          : more * StepSeconds(base.sample) / StepSeconds(point.sample);
    point.efficiency = point.speedup / more;
  }
  curve.kind = weak && curve.points.size() > 1 ? ScalingCurve::Kind::kWeak
               : strong                        ? ScalingCurve::Kind::kStrong
                                               : ScalingCurve::Kind::kUnknown;
}

// Returns the index of the point with the highest efficiency.
size_t BestOf(const ScalingCurve& curve) {
  const auto best = std::ranges::max_element(curve.points, {}, &ScalingPoint::efficiency);
  return static_cast<size_t>(best - curve.points.begin());
}

// Runs the command with this number of ranks; a run without steps is an error.
Result<RunSample> RunWith(const RunRequest& request, int ranks) {
  RunRequest one = request;
  one.command = WithRanks(request.command, ranks);
  GAPLESS_ASSIGN(auto sample, RunOnce(one));
  if (sample.interrupted || !Succeeded(sample)) return FailureOf(sample, one);
  if (sample.source != SampleSource::kSteps || sample.step_ns.empty())
    return Fail(ErrorCode::kCommand, "no training step was seen", CommandText(one.command),
                StrCat("call gapless.step() at the end of each iteration", AgentWords(sample)));
  return sample;
}

}  // namespace

std::string_view NameOf(ScalingCurve::Kind kind) {
  switch (kind) {
    case ScalingCurve::Kind::kWeak: return "weak";
    case ScalingCurve::Kind::kStrong: return "strong";
    case ScalingCurve::Kind::kUnknown: break;
  }
  return "unknown";
}

std::string WhyToRepeat(const ScalingCurve& curve) {
  if (curve.points.empty()) return "";
  const ScalingPoint& best = curve.points[BestOf(curve)];
  if (best.efficiency <= kMaxEfficiency) return "";
  return StrCat("measure again", curve.was_repeated ? ", the second measurement says the same" : "", ": ", best.ranks,
                " ranks cannot be ", FormatPercent(best.efficiency), " efficient, so the run with ",
                curve.points.front().ranks, curve.points.front().ranks == 1 ? " rank" : " ranks",
                " was slowed down by something else, or does other work; on an idle machine, with more --steps");
}

bool CanHaveRanks(const std::vector<std::string>& command) { return HasPlace(command) || IsPythonScript(command); }

std::vector<std::string> WithRanks(const std::vector<std::string>& command, int ranks) {
  std::vector<std::string> words;
  const std::string count = StrCat(ranks);
  if (HasPlace(command)) {
    for (std::string word : command) {
      for (size_t at = word.find(kPlace); at != word.npos; at = word.find(kPlace))
        word.replace(at, kPlace.size(), count);
      words.push_back(std::move(word));
    }
    return words;
  }
  words = {command[0], "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", count};
  words.insert(words.end(), command.begin() + 1, command.end());
  return words;
}

ScalingCurve CurveOf(std::vector<std::vector<ScalingPoint>> rounds) {
  ScalingCurve curve;
  curve.rounds = rounds.size();
  std::vector<ScalingCurve> judged;
  for (const auto& points : rounds) {
    judged.push_back({.points = points});
    Judge(judged.back());
  }
  for (size_t count = 0; count < rounds[0].size(); ++count) {
    std::ranges::sort(rounds, {}, [&](const auto& points) { return StepSeconds(points[count].sample); });
    ScalingPoint point = rounds[rounds.size() / 2][count];
    const auto by_efficiency = [&](const ScalingCurve& of) { return of.points[count].efficiency; };
    if (rounds.size() > 1) {
      point.lowest_efficiency = by_efficiency(*std::ranges::min_element(judged, {}, by_efficiency));
      point.highest_efficiency = by_efficiency(*std::ranges::max_element(judged, {}, by_efficiency));
    }
    curve.points.push_back(std::move(point));
  }
  Judge(curve);
  return curve;
}

Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, size_t rounds,
                                    const std::function<void(int ranks)>& on_count) {
  std::vector<std::vector<ScalingPoint>> measured(std::max<size_t>(rounds, 1));
  for (auto& points : measured)
    for (const int ranks : counts) {
      if (on_count) on_count(ranks);
      GAPLESS_ASSIGN(auto sample, RunWith(request, ranks));
      points.push_back({.ranks = ranks, .sample = std::move(sample)});
    }
  ScalingCurve curve = CurveOf(std::move(measured));
  const size_t best = BestOf(curve);
  if (curve.rounds > 1 || curve.points[best].efficiency <= kMaxEfficiency) return curve;
  for (const size_t point : {size_t{0}, best}) {  // these two made it
    const int ranks = curve.points[point].ranks;
    if (on_count) on_count(ranks);
    GAPLESS_ASSIGN(curve.points[point].sample, RunWith(request, ranks));
  }
  curve.was_repeated = true;
  Judge(curve);
  return curve;
}

}  // namespace gapless::internal
