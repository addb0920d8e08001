// SPDX-License-Identifier: Apache-2.0
// Writes `gapless optimize --json`, which is also result.json in the folder of the results and the input of `gapless
// report`. Speedups are time before / time after, shares are 0–1. A number that was not measured is left out.
//
// A fix that stayed in its own trial counts as applied only if all fixes together are proved; otherwise it is among the
// refused ones with the outcome "not_proved", so that a script that reads `applied` cannot claim an unproved gain.
#include "base/described_json.h"
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "proof/described.h"
#include "report/optimize/report.h"

namespace gapless::internal {
namespace documents {

// `parity` is the decision in one word; it is left out if no decision was possible.
struct KeptTraining {
  bool parity = false, exact = false;
  static constexpr FieldInfo kFields[] = {
      Field<&KeptTraining::parity>("parity", "", "the training is the same"),
      Field<&KeptTraining::exact>("exact", "", "the training is the same, bit for bit"),
  };
};

// The outputs of the model of a program that infers, beside those of the unchanged program.
struct ComparedOutputs {
  std::string verdict{}, reason{};
  size_t calls = 0;
  std::optional<Precision> unit{};
  std::optional<size_t> call{};
  std::string tensor{};
  std::optional<double> value{}, limit{};
  static constexpr FieldInfo kFields[] = {
      Field<&ComparedOutputs::verdict>("verdict", "", "exact, rounding, other_answers or cannot_tell"),
      Field<&ComparedOutputs::reason>("reason", "", "the decision as a sentence"),
      Field<&ComparedOutputs::calls>("calls", "count", "calls of the model that were compared"),
      Field<&ComparedOutputs::unit>("unit", "", "precision whose rounding explains the difference"),
      Field<&ComparedOutputs::call>("call", "", "where the outputs are other ones, from 1"),
      Field<&ComparedOutputs::tensor>("tensor", "", "output that decided", kUnlessEmpty),
      Field<&ComparedOutputs::value>("value", "", "its error, as a share of its spread"),
      Field<&ComparedOutputs::limit>("limit", "", "error that the rounding explains"),
  };
};

// The members that each trial and the whole search have in common.
struct TrainingPair {
  std::optional<KeptTraining> loss{};
  std::optional<Parity> training{};
  std::optional<ComparedOutputs> outputs{};
  static constexpr FieldInfo kFields[] = {
      Field<&TrainingPair::loss>("loss", "", "the decision in one word; missing: no decision was possible"),
      Field<&TrainingPair::training>("training", "", "is the training the same? missing: not asked"),
      Field<&TrainingPair::outputs>("outputs", "", "with --inference, instead: does the model return the same?"),
  };
};

// One fix and the decision on it.
struct TriedFix {
  std::string fix{}, outcome{}, safety{}, effort{}, reason{};
  std::optional<RatioInterval> predicted{}, measured{};
  std::optional<size_t> pairs{};
  std::string method{};
  std::optional<double> mde_share{};
  TrainingPair training{};
  std::optional<double> startup_s{};
  std::optional<int64_t> break_even_steps{};
  std::vector<std::string> changes{};
  static constexpr FieldInfo kFields[] = {
      Field<&TriedFix::fix>("fix", "", "fix and its value"),
      Field<&TriedFix::outcome>("outcome", "", "accepted, or why not, in one word"),
      Field<&TriedFix::safety>("safety", "", "what the fix may change beside the time"),
      Field<&TriedFix::effort>("effort", "", "effort to make it by hand"),
      Field<&TriedFix::reason>("reason", "", "why it was not applied", kUnlessEmpty),
      Field<&TriedFix::predicted>("predicted", "", "predicted speed-up"),
      Field<&TriedFix::measured>("measured", "", "measured speed-up over the fixes before it"),
      Field<&TriedFix::pairs>("pairs", "count", "pairs that were measured"),
      Field<&TriedFix::method>("method", "", "blocks of one process, or processes", kUnlessEmpty),
      Field<&TriedFix::mde_share>("mde_share", "", "smallest change that these pairs detect"),
      Spliced<&TriedFix::training>(),
      Field<&TriedFix::startup_s>("startup_s", "s", "longer start"),
      Field<&TriedFix::break_even_steps>("break_even_steps", "count", "steps after which the start is paid back"),
      Field<&TriedFix::changes>("changes", "", "what was changed in the program", kUnlessEmpty),
  };
};

// The command in one state: as it is, with the fixes up to one of them, or with all.
struct StageMeasured {
  std::string optimization{};
  double step_time_ms = 0;
  std::optional<double> samples_per_second{};
  std::optional<RatioInterval> speedup{};
  std::optional<double> memory_bytes{}, gpu_utilization{}, host_memory_bytes{}, loss{}, metric{};
  std::vector<double> losses{};
  static constexpr FieldInfo kFields[] = {
      Field<&StageMeasured::optimization>("optimization", "", "baseline, a fix that stayed, or all"),
      Field<&StageMeasured::step_time_ms>("step_time_ms", "ms", "mean duration of a step"),
      Field<&StageMeasured::samples_per_second>("samples_per_second", "1/s", "samples a second"),
      Field<&StageMeasured::speedup>("speedup", "", "measured speed-up"),
      Field<&StageMeasured::memory_bytes>("memory_bytes", "bytes", "peak of the GPU's memory"),
      Field<&StageMeasured::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&StageMeasured::host_memory_bytes>("host_memory_bytes", "bytes", "highest resident memory"),
      Field<&StageMeasured::loss>("loss", "", "last loss"),
      Field<&StageMeasured::metric>("metric", "", "value of --metric"),
      Field<&StageMeasured::losses>("losses", "", "loss of each step; null where none was seen", kUnlessEmptyOrNull),
  };
};

// A fix that is worth a trial, for which the budget had no time left.
struct UntriedFix {
  std::string fix{};
  double expected_speedup = 1, trial_s = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&UntriedFix::fix>("fix", "", "fix and its value"),
      Field<&UntriedFix::expected_speedup>("expected_speedup", "ratio", "predicted speed-up"),
      Field<&UntriedFix::trial_s>("trial_s", "s", "about how long its trial takes"),
  };
};

// A fix that was faster in its pairs so far, but is not decided.
struct AheadFix {
  std::string fix{};
  double speedup_so_far = 1, more_s = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&AheadFix::fix>("fix", "", "fix and its value"),
      Field<&AheadFix::speedup_so_far>("speedup_so_far", "ratio", "speed-up in the pairs that it has"),
      Field<&AheadFix::more_s>("more_s", "s", "about how much more time decides it"),
  };
};

// The whole document.
struct Optimize {
  std::string command{}, about{}, metric_name{};
  std::vector<TriedFix> applied{}, refused{};
  bool proved = false;
  std::string conclusion{};
  std::optional<RatioInterval> speedup{};
  size_t pairs = 0;
  TrainingPair training{};
  std::optional<PrintedMetric> metric{};
  std::optional<int64_t> memory_saved_bytes{};
  std::vector<StageMeasured> table{};
  std::string recipe{}, candidate{}, patch{}, patch_root{}, patch_tested{};
  std::vector<std::string> patch_files{}, by_hand{};
  std::vector<UntriedFix> untried{};
  std::vector<AheadFix> ahead{};
  std::string budget_use{};
  double took_s = 0, budget_s = 0;
  bool interrupted = false, inference = false;
  std::vector<std::string> next{};
  static constexpr FieldInfo kFields[] = {
      Field<&Optimize::command>("command", "", "the command that was optimised"),
      Field<&Optimize::about>("about", "", "where it ran, and on what", kUnlessEmpty),
      Field<&Optimize::metric_name>("metric_name", "", "name of the metric of --metric", kUnlessEmpty),
      Field<&Optimize::applied>("applied", "", "fixes that stayed and are proved together"),
      Field<&Optimize::refused>("refused", "", "fixes that did not stay"),
      Field<&Optimize::proved>("proved", "",
                               "all together are significantly faster, and no reason against them was found"),
      Field<&Optimize::conclusion>("conclusion", "", "the result as a sentence"),
      Field<&Optimize::speedup>("speedup", "", "measured speed-up of all fixes together"),
      Field<&Optimize::pairs>("pairs", "count", "pairs that it is from"),
      Spliced<&Optimize::training>(),
      Field<&Optimize::metric>("metric", "", "the number of --metric with all fixes together"),
      Field<&Optimize::memory_saved_bytes>("memory_saved_bytes", "bytes", "GPU memory saved; below 0: more is used"),
      Field<&Optimize::table>("table", "", "the baseline, each fix that stayed, then all together"),
      Field<&Optimize::recipe>("recipe", "", "file for gapless run --recipe", kUnlessEmpty),
      Field<&Optimize::candidate>("candidate", "", "the same of fixes that are not proved", kUnlessEmpty),
      Field<&Optimize::patch>("patch", "", "file with the changes as a patch", kUnlessEmpty),
      Field<&Optimize::patch_root>("patch_root", "", "folder that the patch applies to; missing: the current one",
                                   kUnlessEmpty),
      Field<&Optimize::patch_files>("patch_files", "", "files that the patch changes, below that folder", kUnlessEmpty),
      Field<&Optimize::patch_tested>("patch_tested", "", "what was tried with the patch, as a sentence", kUnlessEmpty),
      Field<&Optimize::by_hand>("by_hand", "", "changes that are not in the patch: what to do, or why not",
                                kUnlessEmpty),
      Field<&Optimize::untried>("untried", "", "fixes for which there was no time"),
      Field<&Optimize::ahead>("ahead", "", "fixes that were faster so far, but are not decided"),
      Field<&Optimize::budget_use>("budget_use", "", "how the time was used, as a sentence", kUnlessEmpty),
      Field<&Optimize::took_s>("took_s", "s", "time that was used"),
      Field<&Optimize::budget_s>("budget_s", "s", "time that was given"),
      Field<&Optimize::interrupted>("interrupted", "", "the user ended it; what was decided stands"),
      Field<&Optimize::inference>("inference", "", "a step is a request: times are latencies", kUnlessEmpty),
      Field<&Optimize::next>("next", "", "command lines that continue from here, the first one first", kUnlessEmpty),
  };
};

}  // namespace documents

namespace {

using namespace documents;

ComparedOutputs OutputsFrom(const ParityReport& report) {
  const bool other = report.verdict == ParityVerdict::kOtherTraining;
  ComparedOutputs outputs{.verdict = other ? "other_answers" : std::string(NameOf(report.verdict)),
                          .reason = report.reason,
                          .calls = report.steps,
                          .call = report.step,
                          .tensor = report.tensor,
                          .value = report.value,
                          .limit = report.limit};
  if (report.verdict == ParityVerdict::kRounding) outputs.unit = report.precision;
  return outputs;
}

// The members stay absent if nothing was compared; `loss` also if no decision was possible.
TrainingPair TrainingOf(const std::optional<ParityReport>& training, const Optimized& result) {
  TrainingPair pair;
  if (!training) return pair;
  if (result.inference) {
    pair.outputs = OutputsFrom(*training);
    return pair;
  }
  if (training->verdict != ParityVerdict::kCannotTell)
    pair.loss = {.parity = IsSameTraining(*training), .exact = training->verdict == ParityVerdict::kExact};
  pair.training = ParityDocument(*training);
  return pair;
}

// Describes a decision. What a measurement gives is absent without pairs.
TriedFix TriedOf(const Decision& decision, const Optimized& result) {
  const bool stayed = decision.outcome == FixOutcome::kAccepted, proved = IsProved(result);
  TriedFix tried{
      .fix = decision.item.ToString(),
      .outcome = stayed && !proved ? "not_proved" : std::string(ToString(decision.outcome)),
      .safety = std::string(ToString(decision.item.Class())),
      .effort = std::string(NameOf(decision.item.fix->trial.effort)),
      .reason = !stayed  ? decision.reason
                : proved ? ""
                         : StrCat("it stayed in its own trial, and all together are not proved: ", ProofText(result)),
      .predicted = decision.predicted,
      .measured = decision.measured,
      .training = TrainingOf(decision.training, result),
      .startup_s = decision.startup_s,
      .break_even_steps = BreakEvenSteps(decision, result.before)};
  if (decision.pairs > 0) {
    tried.pairs = decision.pairs;
    tried.method = decision.live ? "blocks" : "processes";
    tried.mde_share = decision.detectable;
  }
  for (const Change& change : decision.changes) tried.changes.push_back(change.what);
  return tried;
}

// The GPU's utilisation becomes a percentage, as in every other document.
StageMeasured StageOf(std::string what, const Stage& stage, const std::optional<RatioInterval>& speedup) {
  StageMeasured measured{.optimization = std::move(what),
                         .step_time_ms = stage.step_ms,
                         .samples_per_second = stage.samples_per_second,
                         .speedup = speedup,
                         .memory_bytes = stage.memory_bytes,
                         .host_memory_bytes = stage.host_memory_bytes,
                         .loss = stage.last_loss,
                         .metric = stage.metric,
                         .losses = stage.losses};
  if (stage.gpu_utilization) measured.gpu_utilization = 100 * *stage.gpu_utilization;
  return measured;
}

// Lists the baseline, each accepted fix with those before it, and all together if they were measured.
std::vector<StageMeasured> StagesMeasured(const Optimized& result) {
  std::vector<StageMeasured> table{StageOf("baseline", result.before, std::nullopt)};
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted && decision.stage)
      table.push_back(StageOf(decision.item.ToString(), *decision.stage, decision.measured));
  if (result.after) table.push_back(StageOf("all", *result.after, result.speedup));
  return table;
}

// Memory counts as saved only if it was measured before and after.
Optimize DocumentFrom(const OptimizeView& view) {
  const Optimized& result = view.result;
  Optimize document{.command = ShellCommand(view.command),
                    .about = view.about,
                    .metric_name = view.metric_name,
                    .proved = IsProved(result),
                    .conclusion = ProofText(result),
                    .speedup = result.speedup,
                    .pairs = result.pairs,
                    .training = TrainingOf(result.training, result),
                    .metric = MetricDocument(view.metric_name, result.metric),
                    .table = StagesMeasured(result),
                    .recipe = view.recipe,
                    .candidate = view.candidate,
                    .patch = view.patch_file,
                    .patch_root = view.patch_file.empty() ? "" : view.patch_root,
                    .patch_tested = view.patch.tested,
                    .by_hand = ByHandOf(view.patch),
                    .budget_use = BudgetText(result),
                    .took_s = result.took_s,
                    .budget_s = result.budget_s,
                    .interrupted = result.interrupted,
                    .inference = result.inference,
                    .next = NextOf(view)};
  for (const PatchedFile& file : view.patch.files) document.patch_files.push_back(file.path);
  for (const Decision& decision : result.decisions) {
    const bool applied = document.proved && decision.outcome == FixOutcome::kAccepted;
    (applied ? document.applied : document.refused).push_back(TriedOf(decision, result));
  }
  if (result.after && result.after->memory_bytes && result.before.memory_bytes)
    document.memory_saved_bytes = static_cast<int64_t>(*result.before.memory_bytes - *result.after->memory_bytes);
  for (const Untried& untried : result.untried)
    document.untried.push_back({untried.item.ToString(), untried.promise, untried.needs_s});
  for (const Untried& ahead : result.ahead)
    document.ahead.push_back({ahead.item.ToString(), ahead.promise, ahead.needs_s});
  return document;
}

}  // namespace

constinit const TypeInfo kOptimizeDocument = describe::MakeType<Optimize>();

std::string OptimizeJson(const OptimizeView& view) {
  return DocumentOf("optimize", DocumentFrom(view), view.result.warnings);
}

void WriteOptimize(JsonWriter& json, const OptimizeView& view) {
  const Optimize document = DocumentFrom(view);
  WriteDocument(json, "optimize", kOptimizeDocument, &document, view.result.warnings);
}

}  // namespace gapless::internal
