// SPDX-License-Identifier: Apache-2.0
// Checkpoints take a noticeable share of the whole run.
//
// A recording of six steps shows a checkpoint or none; how often a run saves is known from all of its steps.
#include "diagnose/run_pause.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::run_checkpoints_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  std::vector<Bottleneck> found = CheckRunPause(
      run, {"checkpoint",
            kCheckpointSaveShare,
            "writing checkpoints",
            "checkpoint",
            "checkpoints",
            {"write checkpoints less often", "", "if step % save_every == 0: torch.save(...)", "minutes"}});
  for (Bottleneck& bottleneck : found)
    bottleneck.recommendations.push_back(
        {"save in the background: the step then waits only until the state is copied to the host", "",
         "torch.distributed.checkpoint.async_save(state_dict, checkpoint_id=path)", "hours"});
  return found;
}

}  // namespace

RULE(run_checkpoints) = {
    .id = "run_checkpoints",
    .type = BottleneckType::kIo,
    .title = "Over the whole run, steps wait for checkpoints",
    .why =
        "Calls of torch.save, torch.distributed.checkpoint.save and safetensors' save_file that the agent saw in every "
        "step, without those of other threads and those of an evaluation. Reported at 3 % of the steps' time or more.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_checkpoints_rule
