// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/optimize/report.h"
#include "optimize/recipe_use.h"
#include "proof/parity_json.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

// `loss.parity` is the decision in one word; it is left out where nothing could be told.
void WriteTraining(JsonWriter& json, const std::optional<ParityReport>& training) {
  if (!training) return;
  if (training->verdict != ParityVerdict::kCannotTell) {
    json.Key("loss");
    json.BeginObject();
    json.Field("parity", IsSameTraining(*training));
    json.Field("exact", training->verdict == ParityVerdict::kExact);
    json.EndObject();
  }
  json.Key("training");
  json.BeginObject();
  WriteParityFields(json, *training);
  json.EndObject();
}

void WriteDecision(JsonWriter& json, const Decision& decision, const Optimized& result) {
  const bool stayed = decision.outcome == FixOutcome::kAccepted, proved = IsProved(result);
  json.BeginObject();
  json.Field("fix", decision.item.ToString());
  json.Field("outcome", stayed && !proved ? "not_proved" : ToString(decision.outcome));
  json.Field("safety", ToString(decision.item.Class()));
  json.Field("effort", NameOf(decision.item.fix->effort));
  if (!stayed) json.Field("reason", decision.reason);
  if (stayed && !proved)
    json.Field("reason", StrCat("it stayed in its own trial, and all together are not proved: ", ProofText(result)));
  WriteRatio(json, "predicted", decision.predicted);
  WriteRatio(json, "measured", decision.measured);
  if (decision.pairs > 0) {
    json.Field("pairs", decision.pairs);
    json.Field("method", decision.live ? "blocks" : "processes");
    json.Field("mde_share", decision.detectable);
  }
  WriteTraining(json, decision.training);
  json.Field("startup_s", decision.startup_s);
  json.Field("break_even_steps", BreakEvenSteps(decision, result.before));
  if (!decision.changes.empty()) {
    json.Key("changes");
    json.BeginArray();
    for (const Change& change : decision.changes) json.String(change.what);
    json.EndArray();
  }
  json.EndObject();
}

void WriteStage(JsonWriter& json, std::string_view what, const Stage& stage,
                const std::optional<RatioInterval>& speedup) {
  json.BeginObject();
  json.Field("optimization", what);
  json.Field("step_time_ms", stage.step_ms);
  json.Field("samples_per_second", stage.samples_per_second);
  WriteRatio(json, "speedup", speedup);
  json.Field("memory_bytes", stage.memory_bytes);
  if (stage.gpu_utilization) json.Field("gpu_utilization", 100 * *stage.gpu_utilization);
  json.Field("host_memory_bytes", stage.host_memory_bytes);
  json.Field("loss", stage.last_loss);
  json.Field("metric", stage.metric);
  if (!stage.losses.empty()) {
    json.Key("losses");
    json.BeginArray();
    for (const double loss : stage.losses) json.Real(loss);  // null where none was seen
    json.EndArray();
  }
  json.EndObject();
}

void WriteTable(JsonWriter& json, const Optimized& result) {
  json.Key("table");
  json.BeginArray();
  WriteStage(json, "baseline", result.before, std::nullopt);
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted && decision.stage)
      WriteStage(json, decision.item.ToString(), *decision.stage, decision.measured);
  if (result.after) WriteStage(json, "all", *result.after, result.speedup);
  json.EndArray();
}

}  // namespace

std::string OptimizeJson(const OptimizeView& view) {
  const Optimized& result = view.result;
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("command", ShellCommand(view.command));
  json.FieldUnlessEmpty("about", view.about);
  json.FieldUnlessEmpty("metric_name", view.metric_name);
  const bool proved = IsProved(result);
  for (const bool applied : {true, false}) {
    json.Key(applied ? "applied" : "refused");
    json.BeginArray();
    for (const Decision& decision : result.decisions)
      if ((proved && decision.outcome == FixOutcome::kAccepted) == applied) WriteDecision(json, decision, result);
    json.EndArray();
  }
  json.Field("proved", proved);
  json.Field("conclusion", ProofText(result));
  WriteRatio(json, "speedup", result.speedup);
  json.Field("pairs", result.pairs);
  WriteTraining(json, result.training);
  if (result.after && result.after->memory_bytes && result.before.memory_bytes)
    json.Field("memory_saved_bytes", static_cast<int64_t>(*result.before.memory_bytes - *result.after->memory_bytes));
  WriteTable(json, result);
  json.FieldUnlessEmpty("recipe", view.recipe);
  json.FieldUnlessEmpty("candidate", view.candidate);
  json.FieldUnlessEmpty("patch", view.patch_file);
  json.Key("warnings");
  json.BeginArray();
  for (const std::string& warning : result.warnings) json.String(warning);
  json.EndArray();
  json.Key("untried");
  json.BeginArray();
  for (const Untried& untried : result.untried) {
    json.BeginObject();
    json.Field("fix", untried.item.ToString());
    json.Field("expected_speedup", untried.promise);
    json.Field("trial_s", untried.needs_s);
    json.EndObject();
  }
  json.EndArray();
  json.FieldUnlessEmpty("budget_use", BudgetText(result));
  json.Field("took_s", result.took_s);
  json.Field("budget_s", result.budget_s);
  json.Field("interrupted", result.interrupted);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
