// SPDX-License-Identifier: Apache-2.0
// Runs a command with several numbers of ranks in rounds, and computes efficiency as throughput per rank relative
// to the first number.
//
// Example: 100 samples/s with 1 rank and 360 with 4 are a speedup of 3.6 and an efficiency of 0.9. Whether the
// scaling is weak or strong is seen from the samples of a step, within 5 %. If the samples are not known, each
// rank is taken to have as many as before.
#include "proof/scaling.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/measure.h"
#include "validate/distributions.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kPlace = "{n}", kBatchPlace = "{batch}";
constexpr double kEfficiencyLevel = 0.95;
constexpr double kSameSamples = 0.05;

bool Has(const std::vector<std::string>& command, std::string_view place) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(place) != word.npos; });
}
bool HasPlace(const std::vector<std::string>& command) { return Has(command, kPlace); }

std::vector<std::string> Replaced(std::vector<std::string> command, std::string_view place, const std::string& text) {
  for (std::string& word : command)
    for (size_t at = word.find(place); at != word.npos; at = word.find(place, at + text.size()))
      word.replace(at, place.size(), text);
  return command;
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

// Sets the interval of a point over its rounds. What all rounds agree on to the last digit has one of no width.
void SetInterval(const std::vector<double>& efficiencies, ScalingPoint& point) {
  std::vector<double> logs;
  for (const double efficiency : efficiencies) logs.push_back(std::log(efficiency));
  const auto n = static_cast<double>(logs.size());
  const auto mean = Mean(logs), deviation = StandardDeviation(logs);
  if (!mean || !deviation) return;
  const double width = StudentQuantile((1 + kEfficiencyLevel) / 2, n - 1) * *deviation / std::sqrt(n);
  point.efficiency_low = std::exp(*mean - width), point.efficiency_high = std::exp(*mean + width);
}

}  // namespace

Result<RunSample> RunWithRanks(const RunRequest& request, int ranks, int64_t batch) {
  RunRequest one = request;
  one.command = WithRanks(batch > 0 ? WithBatch(request.command, batch) : request.command, ranks);
  GAPLESS_ASSIGN(auto sample, RunOnce(one));
  if (sample.interrupted || !Succeeded(sample)) return FailureOf(sample, one);
  if (sample.source != SampleSource::kSteps || sample.step_ns.empty())
    return Fail(ErrorCode::kCommand, "no training step was seen", CommandText(one.command),
                StrCat("call gapless.step() at the end of each iteration", AgentWords(sample)));
  return sample;
}

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
  if (HasPlace(command)) return Replaced(command, kPlace, count);
  words = {command[0], "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", count};
  words.insert(words.end(), command.begin() + 1, command.end());
  return words;
}

bool HasBatchPlace(const std::vector<std::string>& command) { return Has(command, kBatchPlace); }

std::vector<std::string> WithBatch(const std::vector<std::string>& command, int64_t batch) {
  return Replaced(command, kBatchPlace, StrCat(batch));
}

Result<std::vector<int64_t>> BatchesOf(ScalingCurve::Kind kind, const std::vector<int>& counts, int64_t batch) {
  const int64_t all = batch * counts.front();
  std::vector<int64_t> batches;
  for (const int ranks : counts) {
    if (kind == ScalingCurve::Kind::kStrong && all % ranks != 0)
      return Fail(ErrorCode::kUsage,
                  StrCat("the ", all, " samples of a step cannot be divided evenly by ", ranks, " ranks"), "",
                  "choose a --batch that every number of ranks divides");
    batches.push_back(kind == ScalingCurve::Kind::kStrong ? all / ranks : batch);
  }
  return batches;
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
    std::vector<double> efficiencies;
    for (const ScalingCurve& of : judged) efficiencies.push_back(by_efficiency(of));
    if (count > 0) SetInterval(efficiencies, point);
    curve.points.push_back(std::move(point));
  }
  Judge(curve);
  return curve;
}

Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, size_t rounds,
                                    const std::function<void(int ranks)>& on_count) {
  return MeasureScaling({.counts = counts, .rounds = rounds}, [&](int ranks, int64_t batch) {
    if (on_count) on_count(ranks);
    return RunWithRanks(request, ranks, batch);
  });
}

Result<ScalingCurve> MeasureScaling(const ScalingPlan& plan, const ScalingRun& run) {
  const auto begun = std::chrono::steady_clock::now();
  const auto batch_of = [&](size_t count) { return plan.batches.empty() ? 0 : plan.batches[count]; };
  std::vector<std::vector<ScalingPoint>> measured;
  do {
    auto& points = measured.emplace_back();
    for (size_t count = 0; count < plan.counts.size(); ++count) {
      GAPLESS_ASSIGN(auto sample, run(plan.counts[count], batch_of(count)));
      points.push_back({.ranks = plan.counts[count], .sample = std::move(sample)});
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    const auto rounds = static_cast<double>(measured.size());
    if (plan.budget_s && passed.count() * (rounds + 1) / rounds > *plan.budget_s) break;
  } while (measured.size() < plan.rounds);
  ScalingCurve curve = CurveOf(std::move(measured));
  const size_t best = BestOf(curve);
  if (curve.rounds > 1 || curve.points[best].efficiency <= kMaxEfficiency) return curve;
  for (const size_t point : {size_t{0}, best}) {  // these two made it
    GAPLESS_ASSIGN(curve.points[point].sample, run(curve.points[point].ranks, batch_of(point)));
  }
  curve.was_repeated = true;
  Judge(curve);
  return curve;
}

}  // namespace gapless::internal
