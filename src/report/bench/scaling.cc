// SPDX-License-Identifier: Apache-2.0
// Writes a scaling curve as text and JSON.
//
// Efficiency is throughput per rank over that of the fewest ranks: 1 is perfect. A curve that looks disturbed says why
// it should be measured again (proof/scaling.h), and then has no efficiency in its metrics.
#include "proof/scaling.h"

#include <algorithm>
#include <cmath>

#include "base/described_json.h"
#include "base/strings.h"
#include "proof/described.h"
#include "report/bench/report.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<ScalingCurve::Kind> = 3;

namespace documents {

// The point with the most ranks, under the names that a history records.
struct ScalingMetrics {
  double step_time_ms = 0;
  std::optional<double> samples_per_second{}, multi_gpu_scaling_efficiency{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScalingMetrics::step_time_ms>("step_time_ms", "ms", "typical step with the most ranks"),
      Field<&ScalingMetrics::samples_per_second>("samples_per_second", "1/s", "of all ranks"),
      Field<&ScalingMetrics::multi_gpu_scaling_efficiency>("multi_gpu_scaling_efficiency", "",
                                                           "speed-up per rank, 1 is perfect"),
  };
};

// The ends of a confidence interval.
struct ScalingInterval {
  double low = 0, high = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&ScalingInterval::low>("low", "ratio", "lower end"),
      Field<&ScalingInterval::high>("high", "ratio", "upper end"),
  };
};

// A point of the curve. The range over rounds is absent for a single round.
struct ScalingRanks {
  int64_t ranks = 0;
  double step_time_ms = 0;
  std::optional<double> samples_per_second{};
  double speedup = 1, efficiency = 1;
  std::optional<double> efficiency_low{}, efficiency_high{};
  std::optional<ScalingInterval> efficiency_interval{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScalingRanks::ranks>("ranks", "count", "processes that trained"),
      Field<&ScalingRanks::step_time_ms>("step_time_ms", "ms", "typical duration of a step"),
      Field<&ScalingRanks::samples_per_second>("samples_per_second", "1/s", "of all ranks"),
      Field<&ScalingRanks::speedup>("speedup", "ratio", "against the fewest ranks"),
      Field<&ScalingRanks::efficiency>("efficiency", "ratio", "speed-up per rank, 1 is perfect"),
      Field<&ScalingRanks::efficiency_low>("efficiency_low", "ratio", "lowest of the rounds"),
      Field<&ScalingRanks::efficiency_high>("efficiency_high", "ratio", "highest of the rounds"),
      Field<&ScalingRanks::efficiency_interval>("efficiency_interval", "",
                                                "95 % over the rounds; missing: one round, or the fewest ranks"),
  };
};

// The document of `bench --scaling` and `tune scaling`.
struct ScalingResult {
  ScalingCurve::Kind scaling{};
  ScalingMetrics metrics{};
  int64_t rounds = 0;
  std::string repeat{};
  bool measured_twice = false;
  std::vector<ScalingRanks> points{};
  std::optional<std::vector<ScalingRanks>> strong_points{};
  Environment environment{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScalingResult::scaling>("scaling", "", "weak: the same work for each rank; strong: the same in all"),
      Field<&ScalingResult::metrics>("metrics", "", "with the most ranks"),
      Field<&ScalingResult::rounds>("rounds", "count", "rounds that were run"),
      Field<&ScalingResult::repeat>("repeat", "", "why it should be measured again", kUnlessEmpty),
      Field<&ScalingResult::measured_twice>("measured_twice", "", "it was measured again", kUnlessEmpty),
      Field<&ScalingResult::points>("points", "", "one for each number of ranks"),
      Field<&ScalingResult::strong_points>("strong_points", "", "the same with as many samples in all; with --batch"),
      Field<&ScalingResult::environment>("environment", "", "where it was measured"),
  };
};

}  // namespace documents

namespace {

// Returns a line for each number of ranks but the first, which its round starts from: "2 ranks: 81 % to 86 % efficient
// in 3 rounds".
std::string RangesText(const ScalingCurve& curve) {
  std::string text;
  for (size_t i = 1; i < curve.points.size() && curve.rounds > 1; ++i) {
    const ScalingPoint& point = curve.points[i];
    text += StrCat(point.ranks, " ranks: ", FormatPercent(point.lowest_efficiency), " to ",
                   FormatPercent(point.highest_efficiency), " efficient in ", curve.rounds, " rounds");
    if (point.efficiency_low && point.efficiency_high)
      text += StrCat("; 95 % interval ", FormatPercent(*point.efficiency_low), " to ",
                     FormatPercent(*point.efficiency_high));
    text += "\n";
  }
  return text;
}

std::vector<documents::ScalingRanks> PointsOf(const ScalingCurve& curve) {
  std::vector<documents::ScalingRanks> points;
  for (const ScalingPoint& point : curve.points) {
    documents::ScalingRanks& ranks = points.emplace_back();
    ranks = {.ranks = static_cast<int64_t>(point.ranks),
             .step_time_ms = *TypicalValue(point.sample),
             .samples_per_second = point.sample.samples_per_second,
             .speedup = point.speedup,
             .efficiency = point.efficiency};
    if (curve.rounds <= 1) continue;
    ranks.efficiency_low = point.lowest_efficiency;
    ranks.efficiency_high = point.highest_efficiency;
    if (point.efficiency_low && point.efficiency_high)
      ranks.efficiency_interval = {*point.efficiency_low, *point.efficiency_high};
  }
  return points;
}

}  // namespace

// Draws the efficiency as a bar of up to 20 characters; a point above 1 is drawn as 1.
std::string ScalingText(const ScalingCurve& curve) {
  std::string text = "  ranks         step   samples a second    speedup   efficiency\n";
  const auto right = [](std::string word, size_t width) {
    return std::string(width - std::min(width, word.size()), ' ') + word;
  };
  for (const ScalingPoint& point : curve.points) {
    const auto bar = static_cast<size_t>(std::lround(std::clamp(point.efficiency, 0.0, 1.0) * 20));
    const auto rate = point.sample.samples_per_second;
    text +=
        StrCat(right(StrCat(point.ranks), 7), right(StrCat(FormatNumber(*TypicalValue(point.sample), 2), " ms"), 13),
               right(rate ? FormatNumber(*rate, 1) : "-", 19), right(StrCat(FormatNumber(point.speedup, 2), "x"), 11),
               right(FormatPercent(point.efficiency), 13), "  ", std::string(bar, '#'), "\n");
  }
  text += RangesText(curve);
  if (curve.kind == ScalingCurve::Kind::kWeak) text += "weak scaling: every rank has as many samples at any count\n";
  if (curve.kind == ScalingCurve::Kind::kStrong) text += "strong scaling: all ranks share the same samples\n";
  if (const std::string why = WhyToRepeat(curve); !why.empty()) text += StrCat(why, "\n");
  return text;
}

std::string ScalingText(const std::vector<ScalingCurve>& curves) {
  std::string text;
  for (const ScalingCurve& curve : curves) text += StrCat(text.empty() ? "" : "\n", ScalingText(curve));
  return text;
}

constinit const TypeInfo kScalingDocument = describe::MakeType<documents::ScalingResult>();

// The reason to measure again is also a warning of the document.
std::string ScalingJson(const ScalingCurve& curve, std::string_view command) {
  return ScalingJson(std::vector{curve}, command);
}

std::string ScalingJson(const std::vector<ScalingCurve>& curves, std::string_view command) {
  const ScalingCurve& curve = curves.front();
  const ScalingPoint& last = curve.points.back();
  documents::ScalingResult document{
      .scaling = curve.kind,
      .metrics = {.step_time_ms = *TypicalValue(last.sample), .samples_per_second = last.sample.samples_per_second},
      .rounds = static_cast<int64_t>(curve.rounds),
      .repeat = WhyToRepeat(curve),
      .measured_twice = curve.was_repeated,
      .environment = EnvironmentDocument(last.sample)};
  // A disturbed curve has no efficiency, so that a history does not keep it.
  if (document.repeat.empty()) document.metrics.multi_gpu_scaling_efficiency = last.efficiency;
  document.points = PointsOf(curve);
  if (curves.size() > 1) document.strong_points = PointsOf(curves[1]);
  std::vector<std::string> warnings;
  for (const ScalingCurve& of : curves)
    if (std::string why = WhyToRepeat(of); !why.empty()) warnings.push_back(std::move(why));
  return DocumentOf(command, document, warnings);
}

}  // namespace gapless::internal
