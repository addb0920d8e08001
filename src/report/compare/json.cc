// SPDX-License-Identifier: Apache-2.0
// Writes `gapless compare --json` for pairs, and for ratios of pairs from elsewhere.
#include "base/redact.h"
#include "proof/metrics.h"
#include "report/compare/document.h"

namespace gapless::internal {
namespace {

// Describes the evidence. `p_value` holds at any number of pairs; the nominal ones are there for comparison with other
// tools.
documents::Pairs PairsDocument(const PairSequence& sequence, const PairOptions& options, const NominalP& nominal) {
  return {.verdict = sequence.Verdict(),
          .speedup = SpeedupOf(sequence.Interval()),
          .p_value = sequence.AnytimeP(),
          .statistically_significant = sequence.AnytimeP() <= options.alpha,
          .p_signed_rank = nominal.signed_rank,
          .p_welch = nominal.welch,
          .mde_share = sequence.DetectableShare(),
          .margin = options.margin,
          .pairs = sequence.size(),
          .log_ratios = {sequence.log_ratios().begin(), sequence.log_ratios().end()}};
}

// Returns the decision about the training; absent if no decision was possible.
std::optional<documents::LossParity> LossOf(const Comparison& comparison) {
  const auto losses = comparison.Losses();
  if (!losses) return std::nullopt;
  documents::LossParity loss{
      .max_difference = losses->max_difference, .spread = losses->spread, .steps = losses->steps};
  const auto& training = comparison.training();
  if (training && training->verdict != ParityVerdict::kCannotTell) loss.parity = IsSameTraining(*training);
  return loss;
}

}  // namespace

constinit const TypeInfo kCompareDocument = describe::MakeType<documents::Compare>();
constinit const TypeInfo kRatiosDocument = describe::MakeType<documents::Pairs>();

// Also used by `gapless validate`, whose document contains this one.
documents::Compare CompareDocument(const Comparison& comparison, const PairPlan& plan) {
  documents::Compare document{.pairs = PairsDocument(comparison.sequence(), comparison.options(), comparison.Nominal()),
                              .interrupted = comparison.is_interrupted(),
                              .seed = static_cast<int64_t>(plan.seed),
                              .loss = LossOf(comparison),
                              .metric = MetricDocument(plan.metric_name, comparison.Metric())};
  const auto a = MetricsOf(comparison.a()), b = MetricsOf(comparison.b());
  if (a && b) {
    document.memory_saved_gb = MemorySavedGb(*a, *b);
    if (document.memory_saved_gb) document.memory_saved_bytes = *document.memory_saved_gb * 1e9;
    document.energy_saved_j = EnergySavedJ(*a, *b);
  }
  if (a) document.a = MetricsDocument(*a, comparison.a()[0].source);
  if (a) document.a_command = CommandText(plan.a.command);
  if (b) document.b = MetricsDocument(*b, comparison.b()[0].source);
  if (b) document.b_command = CommandText(plan.b.command);
  if (comparison.training()) document.training = ParityDocument(*comparison.training());
  document.next = NextOf(comparison, plan);
  // Without a pair nothing is known of the environment.
  if (comparison.pairs() == 0) return document;
  document.source = comparison.a()[0].source;
  document.environment = EnvironmentDocument(comparison.a()[0]);
  return document;
}

std::string CompareJson(const Comparison& comparison, const PairPlan& plan) {
  return DocumentOf("compare", CompareDocument(comparison, plan), NoiseOf(comparison));
}

std::string RatiosJson(const PairSequence& sequence, const PairOptions& options) {
  return DocumentOf("compare", PairsDocument(sequence, options, NominalOf(sequence)));
}

}  // namespace gapless::internal
