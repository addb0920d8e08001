// SPDX-License-Identifier: Apache-2.0
#include "cli/scaling.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

constexpr int kMaxRanks = 4096;

// A line for each count but the first, which its round starts from: "2 ranks: 81 % to 86 % efficient in 3 rounds".
std::string RangesText(const ScalingCurve& curve) {
  std::string text;
  for (size_t i = 1; i < curve.points.size() && curve.rounds > 1; ++i)
    text += StrCat(curve.points[i].ranks, " ranks: ", FormatPercent(curve.points[i].lowest_efficiency), " to ",
                   FormatPercent(curve.points[i].highest_efficiency), " efficient in ", curve.rounds, " rounds\n");
  return text;
}

}  // namespace

Result<void> NeedsRanks(const RunRequest& request) {
  if (CanHaveRanks(request.command)) return {};
  return Fail(ErrorCode::kUsage, "how is this command started with several ranks?", CommandText(request.command),
              "put {n} where the number of ranks stands: torchrun --nproc-per-node {n} train.py");
}

Result<std::vector<int>> RanksFrom(const Arguments& arguments, std::string_view option, const RunRequest& request) {
  std::vector<int> counts;
  for (const std::string& word : arguments.List(option)) {
    int count = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (error != std::errc() || end != word.data() + word.size() || count < 1 || count > kMaxRanks)
      return Fail(ErrorCode::kUsage, StrCat("--", option, " takes numbers of ranks, such as 1,2,4"), word);
    counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (!counts.empty()) GAPLESS_TRY(NeedsRanks(request));
  return counts;
}

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

std::string ScalingJson(const ScalingCurve& curve) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("scaling", NameOf(curve.kind));
  json.Key("metrics");
  json.BeginObject();
  json.Field("step_time_ms", *TypicalValue(curve.points.back().sample));
  json.Field("samples_per_second", curve.points.back().sample.samples_per_second);
  const std::string why = WhyToRepeat(curve);
  if (why.empty()) json.Field("multi_gpu_scaling_efficiency", curve.points.back().efficiency);
  json.EndObject();
  json.Field("rounds", static_cast<int64_t>(curve.rounds));
  json.FieldUnlessEmpty("repeat", why);
  if (curve.was_repeated) json.Field("measured_twice", true);
  json.Key("points");
  json.BeginArray();
  for (const ScalingPoint& point : curve.points) {
    json.BeginObject();
    json.Field("ranks", point.ranks);
    json.Field("step_time_ms", *TypicalValue(point.sample));
    json.Field("samples_per_second", point.sample.samples_per_second);
    json.Field("speedup", point.speedup);
    json.Field("efficiency", point.efficiency);
    if (curve.rounds > 1) {
      json.Field("efficiency_low", point.lowest_efficiency);
      json.Field("efficiency_high", point.highest_efficiency);
    }
    json.EndObject();
  }
  json.EndArray();
  json.Key("environment");
  WriteEnvironment(json, curve.points.back().sample);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
