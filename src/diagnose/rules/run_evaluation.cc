// SPDX-License-Identifier: Apache-2.0
// Evaluation takes a noticeable share of the whole run.
//
// A recording of six steps shows an evaluation or none; how much of a run it takes is known from all of its steps. The
// gain: how much evaluation is needed is for the user to say. We expect that half of it can go (fewer samples, or half
// as often), at least a tenth, at most nine tenths. Assumptions.
#include "diagnose/run_pause.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::run_evaluation_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};
constexpr PauseGain kEvaluationGain{.low = 0.1, .expected = 0.5, .high = 0.9, .confidence = 0.4};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  std::vector<Bottleneck> found =
      CheckRunPause(run, {.kind = "evaluation",
                          .least_share = kEvaluationShare,
                          .what = "evaluation",
                          .once = "evaluation",
                          .often = "evaluations",
                          .recommendation = {"evaluate less often, or on fewer samples", "",
                                             "if step % evaluate_every == 0: evaluate(model)", "minutes"},
                          .gain = kEvaluationGain,
                          .device_idles = false});
  for (Bottleneck& bottleneck : found) {
    bottleneck.recommendations.push_back(
        {"evaluate in larger batches and without autograd: nothing is kept for a backward pass", "",
         "with torch.inference_mode(): output = model(larger_batch)", "minutes"});
    bottleneck.recommendations.push_back(
        {"evaluate checkpoints in a process of its own, beside the training", "", "", "hours"});
  }
  return found;
}

}  // namespace

RULE(run_evaluation) = {
    .id = "run_evaluation",
    .type = BottleneckType::kStepVariation,
    .title = "Over the whole run, evaluation takes a large share of the time",
    .why =
        "Times in which a module that trains is in evaluation mode, as the agent saw them in every step: from the call "
        "of Module.eval (or train(False)) to that of Module.train, without a backward pass or the end of a step in "
        "between. Reported at 5 % of the steps' time or more.",
    .saves = "1/10, ½, 9/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_evaluation_rule
