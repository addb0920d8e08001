// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/compare/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/redact.h"
#include "base/strings.h"
#include "proof/metrics.h"
#include "proof/parity_json.h"
#include "proof/result_json.h"
#include "validate/rank_tests.h"

namespace gapless::internal {
namespace {

std::string Factor(double value) { return StrCat(FormatNumber(value, value < 10 ? 3 : 1), "×"); }

std::string Between(const RatioInterval& interval) {
  if (!interval.low && !interval.high) return "not bounded yet";
  return StrCat(interval.low ? Factor(*interval.low) : "less", " to ", interval.high ? Factor(*interval.high) : "more");
}

std::string P(double p) { return p < 0.0001 ? "below 0.0001" : FormatNumber(p, 4); }

struct Row {
  std::string name;
  std::optional<double> a, b;
  std::string unit;
  int decimals;
};

std::string Headline(const PairSequence& sequence, const PairOptions& options) {
  const RatioInterval speedup = SpeedupOf(sequence.Interval());
  const std::string pairs = StrCat(sequence.size(), sequence.size() == 1 ? " pair" : " pairs");
  const std::string found = StrCat(Factor(speedup.expected), " as fast as A (95 % interval ", Between(speedup), ")");
  switch (sequence.Verdict()) {
    case SpeedVerdict::kFaster: return StrCat("B is faster: ", found, ", after ", pairs);
    case SpeedVerdict::kSlower: return StrCat("B is slower: ", found, ", after ", pairs);
    case SpeedVerdict::kEquivalent:
      return StrCat("A and B are equivalent, less than ", FormatPercent(options.margin), " apart: B is ", found,
                    ", after ", pairs);
    case SpeedVerdict::kCannotTell: break;
  }
  return StrCat("cannot tell after ", pairs, ": B is ", found);
}

std::string Table(const Comparison& comparison) {
  const auto a = MetricsOf(comparison.a()), b = MetricsOf(comparison.b());
  if (!a || !b) return "";
  const SampleSource source = comparison.a()[0].source;
  const std::string unit = source == SampleSource::kPattern ? "" : "ms";
  const std::string what = source == SampleSource::kSteps     ? "step"
                           : source == SampleSource::kPattern ? "value"
                                                              : "process";
  const Row rows[] = {{StrCat(what, ", median"), *a->step_time_p50_ms, *b->step_time_p50_ms, unit, 3},
                      {StrCat(what, ", p95"), *a->step_time_p95_ms, *b->step_time_p95_ms, unit, 3},
                      {"samples a second", a->samples_per_second, b->samples_per_second, "", 1},
                      {StrCat("memory (", a->memory_source, ")"), a->memory_usage_gb, b->memory_usage_gb, "GB", 3},
                      {"GPU utilisation", a->gpu_utilization, b->gpu_utilization, "%", 1},
                      {"energy of the GPUs", a->energy_j, b->energy_j, "J", 0}};
  std::string text;
  for (const Row& row : rows) {
    if (!row.a || !row.b) continue;
    const auto cell = [&](double value) {
      return StrCat(FormatNumber(value, row.decimals), row.unit.empty() ? "" : " ", row.unit);
    };
    const std::string left = cell(*row.a), right = cell(*row.b);
    const double change = *row.a != 0 ? *row.b / *row.a - 1 : 0;
    const auto pad = [](size_t width, const std::string& content) {
      return std::string(width - std::min(width, content.size()), ' ');
    };
    text += StrCat("  ", row.name, pad(22, row.name), pad(14, left), left, pad(14, right), right, "    ",
                   change >= 0 ? "+" : "-", FormatNumber(100 * std::abs(change), 1), " %\n");
  }
  const std::string head = StrCat("  ", std::string(35, ' '), "A", std::string(13, ' '), "B\n");
  return text.empty() ? "" : StrCat(head, text);
}

std::string Evidence(const PairSequence& sequence, const NominalP& nominal) {
  std::string text = StrCat("p ", P(sequence.AnytimeP()), " at whatever pair one stops");
  if (nominal.signed_rank) text += StrCat(" (nominal: signed rank ", P(*nominal.signed_rank));
  if (nominal.signed_rank && nominal.welch) text += StrCat(", Welch ", P(*nominal.welch));
  text += nominal.signed_rank ? ")\n" : "\n";
  if (const auto detectable = sequence.DetectableShare())
    text += StrCat("as many pairs with this noise detect ", FormatPercent(*detectable), " (power 80 %)\n");
  return text;
}

std::string TrainingText(const Comparison& comparison) {
  const auto losses = comparison.Losses();
  std::string text;
  if (comparison.training()) text += StrCat("training: ", comparison.training()->reason, "\n");
  if (losses)
    text += StrCat("loss: B differs from A by ", FormatDigits(losses->max_difference, 3), " at most over ",
                   losses->steps, " steps",
                   losses->spread ? StrCat("; runs of A differ by ", FormatDigits(*losses->spread, 3)) : "", "\n");
  return text;
}

std::string NoiseText(const Comparison& comparison) {
  std::map<std::string, std::string> noise;  // the first of each kind
  for (const auto* side : {&comparison.a(), &comparison.b()})
    for (const RunSample& sample : *side)
      for (std::string& seen : NoiseSeen(sample)) noise.emplace(seen.substr(0, seen.find_first_of("0123456789")), seen);
  std::string text;
  for (const auto& [kind, seen] : noise) text += StrCat("noise: ", seen, "\n");
  return text;
}

void WritePairs(JsonWriter& json, const PairSequence& sequence, const PairOptions& options, const NominalP& nominal) {
  json.Field("verdict", NameOf(sequence.Verdict()));
  WriteRatio(json, "speedup", SpeedupOf(sequence.Interval()));
  json.Field("p_value", sequence.AnytimeP());
  json.Field("statistically_significant", sequence.AnytimeP() <= options.alpha);
  json.Field("p_signed_rank", nominal.signed_rank);
  json.Field("p_welch", nominal.welch);
  json.Field("nominal", "p_signed_rank and p_welch would hold had the number of pairs been fixed beforehand");
  json.Field("mde_share", sequence.DetectableShare());
  json.Field("margin", options.margin);
  json.Field("pairs", sequence.size());
  json.Key("log_ratios");
  json.BeginArray();
  for (const double one : sequence.log_ratios()) json.Real(one);
  json.EndArray();
}

// `parity` is the decision about the training; it is left out where nothing could be told.
void WriteTraining(JsonWriter& json, const Comparison& comparison) {
  const auto& training = comparison.training();
  if (const auto losses = comparison.Losses()) {
    json.Key("loss");
    json.BeginObject();
    if (training && training->verdict != ParityVerdict::kCannotTell) json.Field("parity", IsSameTraining(*training));
    json.Field("max_difference", losses->max_difference);
    json.Field("spread", losses->spread);
    json.Field("steps", losses->steps);
    json.EndObject();
  }
  if (!training) return;
  json.Key("training");
  json.BeginObject();
  WriteParityFields(json, *training);
  json.EndObject();
}

void WriteSide(JsonWriter& json, std::string_view key, const std::vector<RunSample>& samples,
               const RunRequest& request) {
  const auto metrics = MetricsOf(samples);
  if (!metrics) return;
  json.Key(key);
  WriteMetrics(json, *metrics);
  json.Field(StrCat(key, "_command"), CommandText(request.command));
}

NominalP NominalOf(const PairSequence& sequence) {
  NominalP nominal;
  if (const auto test = SignedRank(sequence.log_ratios())) nominal.signed_rank = test->p;
  return nominal;
}

}  // namespace

std::string SpeedupInShort(const Comparison& comparison) {
  return StrCat("speedup ", Factor(comparison.Speedup().expected));
}

std::string CompareText(const Comparison& comparison) {
  const PairSequence& sequence = comparison.sequence();
  return StrCat(Headline(sequence, comparison.options()), "\n\n", Table(comparison), "\n",
                Evidence(sequence, comparison.Nominal()), TrainingText(comparison), NoiseText(comparison));
}

void WriteComparison(JsonWriter& json, const Comparison& comparison, const PairPlan& plan) {
  WritePairs(json, comparison.sequence(), comparison.options(), comparison.Nominal());
  json.Field("seed", static_cast<int64_t>(plan.seed));
  const auto a = MetricsOf(comparison.a()), b = MetricsOf(comparison.b());
  if (a && b) json.Field("memory_saved_gb", MemorySavedGb(*a, *b));
  if (a && b) json.Field("energy_saved_j", EnergySavedJ(*a, *b));
  WriteSide(json, "a", comparison.a(), plan.a);
  WriteSide(json, "b", comparison.b(), plan.b);
  WriteTraining(json, comparison);
  if (comparison.pairs() > 0) {
    json.Field("source", NameOf(comparison.a()[0].source));
    json.Key("environment");
    WriteEnvironment(json, comparison.a()[0]);
  }
}

std::string CompareJson(const Comparison& comparison, const PairPlan& plan) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  WriteComparison(json, comparison, plan);
  json.EndObject();
  return out + "\n";
}

std::string RatiosText(const PairSequence& sequence, const PairOptions& options) {
  return StrCat(Headline(sequence, options), "\n\n", Evidence(sequence, NominalOf(sequence)));
}

std::string RatiosJson(const PairSequence& sequence, const PairOptions& options) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  WritePairs(json, sequence, options, NominalOf(sequence));
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
