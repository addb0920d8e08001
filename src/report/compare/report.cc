// SPDX-License-Identifier: Apache-2.0
// Prints a paired comparison: the verdict, a table of both sides, the evidence, the training check and the
// disturbances.
#include "report/compare/report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "proof/metrics.h"
#include "report/next.h"
#include "validate/rank_tests.h"

namespace gapless::internal {
namespace {

// Writes an interval; an end that is not bounded yet is "less" or "more".
std::string Between(const RatioInterval& interval) {
  if (!interval.low && !interval.high) return "not bounded yet";
  return StrCat(interval.low ? SpeedFactorText(*interval.low) : "less", " to ",
                interval.high ? SpeedFactorText(*interval.high) : "more");
}

// A row of the table; absent values leave the row out.
struct MetricRow {
  std::string name;
  std::optional<double> a, b;
  std::string unit;
  int decimals;
};

// States the verdict with the factor, its interval and the number of pairs.
std::string Headline(const PairSequence& sequence, const PairOptions& options) {
  const RatioInterval speedup = SpeedupOf(sequence.Interval());
  const std::string pairs = StrCat(sequence.size(), sequence.size() == 1 ? " pair" : " pairs");
  const std::string found =
      StrCat(SpeedFactorText(speedup.expected), " as fast as A (95 % interval ", Between(speedup), ")");
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

// Writes a row for each metric that both sides have, with the change from A to B. "" if no pair was completed.
std::string MetricTable(const Comparison& comparison) {
  const auto a = MetricsOf(comparison.a()), b = MetricsOf(comparison.b());
  if (!a || !b) return "";
  const SampleSource source = comparison.a()[0].source;
  const std::string unit = source == SampleSource::kPattern ? "" : "ms";
  const std::string what = source == SampleSource::kSteps     ? "step"
                           : source == SampleSource::kPattern ? "value"
                                                              : "process";
  const MetricRow rows[] = {
      {StrCat(what, ", median"), *a->step_time_p50_ms, *b->step_time_p50_ms, unit, 3},
      {StrCat(what, ", p95"), *a->step_time_p95_ms, *b->step_time_p95_ms, unit, 3},
      {"samples a second", a->samples_per_second, b->samples_per_second, "", 1},
      {StrCat("memory (", a->memory_source, ")"), a->memory_usage_gb, b->memory_usage_gb, "GB", 3},
      {"GPU utilisation", a->gpu_utilization, b->gpu_utilization, "%", 1},
      {"energy of the GPUs", a->energy_j, b->energy_j, "J", 0},
      {"energy of a step", a->joules_per_step, b->joules_per_step, "J", 2},
      {"samples a joule", a->samples_per_joule, b->samples_per_joule, "", 3}};
  std::string text;
  for (const MetricRow& row : rows) {
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

// Writes the p values, and the change that this number of pairs could have detected: without it "cannot tell" says
// nothing.
std::string EvidenceText(const PairSequence& sequence, const NominalP& nominal) {
  std::string text = StrCat("p ", PValueText(sequence.AnytimeP()),
                            sequence.IsDecidedAtTheEnd() ? ", twice that of the one look at all pairs in the end"
                                                         : " at whatever pair one stops");
  if (nominal.signed_rank) text += StrCat(" (nominal: signed rank ", PValueText(*nominal.signed_rank));
  if (nominal.signed_rank && nominal.welch) text += StrCat(", Welch ", PValueText(*nominal.welch));
  text += nominal.signed_rank ? ")\n" : "\n";
  if (const auto detectable = sequence.DetectableShare())
    text += StrCat("as many pairs with this noise detect ", FormatPercent(*detectable), " (power 80 %)\n");
  return text;
}

// Writes the verdict on the training, and the largest difference of the losses beside that of two runs of A.
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

// Writes what became of the number of --metric; "" without one.
std::string MetricText(const Comparison& comparison, const PairPlan& plan) {
  if (plan.metric_name.empty()) return "";
  const auto metric = comparison.Metric();
  const std::string against = comparison.MetricObjection();
  if (against.empty()) return metric ? StrCat(plan.metric_name, ": it stays: ", MetricWords(*metric), "\n") : "";
  return StrCat(plan.metric_name, ": another result: ", against, "\n");
}

// Prints what disturbed the runs, a line each.
std::string NoiseText(const Comparison& comparison) {
  std::string text;
  for (const std::string& seen : NoiseOf(comparison)) text += StrCat("noise: ", seen, "\n");
  return text;
}

}  // namespace

// Two sentences are of one kind if they are equal up to their first digit.
std::vector<std::string> NoiseOf(const Comparison& comparison) {
  std::map<std::string, std::string> noise;  // the first of each kind
  for (const auto* side : {&comparison.a(), &comparison.b()})
    for (const RunSample& sample : *side)
      for (std::string& seen : NoiseSeen(sample)) noise.emplace(seen.substr(0, seen.find_first_of("0123456789")), seen);
  std::vector<std::string> sentences;
  for (const auto& [kind, seen] : noise) sentences.push_back(seen);
  if (const size_t repeated = comparison.repeated(); repeated > 0)
    sentences.push_back(StrCat(repeated, repeated == 1 ? " pair was" : " pairs were",
                               " run again, because other processes used ", FormatPercent(kDisturbedShare),
                               " of the processors or more"));
  return sentences;
}

// Without both sides' own values only the signed-rank test can be made.
NominalP NominalOf(const PairSequence& sequence) {
  NominalP nominal;
  if (const auto test = SignedRank(sequence.log_ratios())) nominal.signed_rank = test->p;
  return nominal;
}

std::string SpeedFactorText(double factor) { return StrCat(FormatNumber(factor, factor < 10 ? 3 : 1), "×"); }

std::string PValueText(double p) { return p < 0.0001 ? "below 0.0001" : FormatNumber(p, 4); }

std::string SpeedupInShort(const Comparison& comparison) {
  return StrCat("speedup ", SpeedFactorText(comparison.Speedup().expected));
}

std::string CompareText(const Comparison& comparison, const PairPlan& plan) {
  const PairSequence& sequence = comparison.sequence();
  const std::string interrupted = comparison.is_interrupted()
                                      ? StrCat("interrupted after ", comparison.pairs(),
                                               comparison.pairs() == 1 ? " pair" : " pairs", ", which show:\n")
                                      : "";
  return StrCat(interrupted, Headline(sequence, comparison.options()), "\n\n", MetricTable(comparison), "\n",
                EvidenceText(sequence, comparison.Nominal()), TrainingText(comparison), MetricText(comparison, plan),
                NoiseText(comparison));
}

std::vector<std::string> NextOf(const Comparison& comparison, const PairPlan& plan) {
  if (comparison.Verdict() != SpeedVerdict::kFaster) return {};
  return NextLines(After::kFaster, {.command = plan.b.command});
}

std::string RatiosText(const PairSequence& sequence, const PairOptions& options) {
  return StrCat(Headline(sequence, options), "\n\n", EvidenceText(sequence, NominalOf(sequence)));
}

}  // namespace gapless::internal
