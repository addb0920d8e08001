// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bench/scaling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/strings.h"
#include "cli/output.h"
#include "cli/progress.h"

namespace gapless::internal {
namespace {

constexpr int kMostRanks = 4096;
constexpr std::string_view kPlace = "{n}";
constexpr double kSameSamples = 0.05;

bool HasPlace(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find(kPlace) != word.npos; });
}

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

std::string_view NameOf(ScalingCurve::Kind kind) {
  switch (kind) {
    case ScalingCurve::Kind::kWeak: return "weak";
    case ScalingCurve::Kind::kStrong: return "strong";
    case ScalingCurve::Kind::kUnknown: break;
  }
  return "unknown";
}

}  // namespace

Result<std::vector<int>> ScalingFrom(const Arguments& arguments, const RunRequest& request) {
  std::vector<int> counts;
  for (const std::string& word : arguments.List("scaling")) {
    int count = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (error != std::errc() || end != word.data() + word.size() || count < 1 || count > kMostRanks)
      return Fail(ErrorCode::kUsage, "--scaling takes numbers of ranks, such as 1,2,4", word);
    counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (!counts.empty() && !HasPlace(request.command) && !IsPythonScript(request.command))
    return Fail(ErrorCode::kUsage, "how is this command started with several ranks?", Join(request.command, " "),
                "put {n} where the number of ranks stands: torchrun --nproc-per-node {n} train.py");
  return counts;
}

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

Result<ScalingCurve> MeasureScaling(const RunRequest& request, const std::vector<int>& counts, const Session& session) {
  ScalingCurve curve;
  ProgressLine progress;
  for (const int ranks : counts) {
    if (session.stderr_is_tty)
      progress.Update("measuring", StrCat(ranks, ranks == 1 ? " rank" : " ranks"), curve.points.size(), counts.size(),
                      [](uint64_t count) { return StrCat(count, " of the counts"); });
    RunRequest one = request;
    one.command = WithRanks(request.command, ranks);
    auto sample = RunOnce(one);
    if (!sample) return Unexpected{sample.error()};
    if (sample->interrupted || !Succeeded(*sample)) return FailureOf(*sample, one.command);
    if (sample->source != SampleSource::kSteps || sample->step_ns.empty())
      return Fail(ErrorCode::kCommand, "no training step was seen", Join(one.command, " "));
    curve.points.push_back({.ranks = ranks, .sample = std::move(*sample)});
  }
  Judge(curve);
  return curve;
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
  if (curve.kind == ScalingCurve::Kind::kWeak) text += "weak scaling: every rank has as many samples at any count\n";
  if (curve.kind == ScalingCurve::Kind::kStrong) text += "strong scaling: all ranks share the same samples\n";
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
  json.Field("multi_gpu_scaling_efficiency", curve.points.back().efficiency);
  json.EndObject();
  json.Key("points");
  json.BeginArray();
  for (const ScalingPoint& point : curve.points) {
    json.BeginObject();
    json.Field("ranks", point.ranks);
    json.Field("step_time_ms", *TypicalValue(point.sample));
    json.Field("samples_per_second", point.sample.samples_per_second);
    json.Field("speedup", point.speedup);
    json.Field("efficiency", point.efficiency);
    json.EndObject();
  }
  json.EndArray();
  json.Key("environment");
  WriteEnvironment(json, curve.points.back().sample);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
