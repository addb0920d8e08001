// SPDX-License-Identifier: Apache-2.0
// The device waits while a checkpoint is written. A recording of few steps does not show how often the whole run writes
// checkpoints; the gain is that of the recorded stretch. Saving in the background still copies the state to the host:
// we expect eight tenths of the idle time to go, at least half, at most all (assumptions; PyTorch reports 10 to 20
// times shorter stops for its asynchronous saves of large models).
#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal::checkpoint_save_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "whole_run"};
constexpr std::string_view kKinds[] = {"checkpoint_save"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (WholeRunView(tables).knows()) return std::vector<Bottleneck>{};  // run_checkpoints knows how often it happens
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kKinds);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kCheckpointSaveShare) return std::vector<Bottleneck>{};
  const std::string saves = FormatCounted(sum.calls, "save");
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "host_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.idle_ns), " while checkpoints are written");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the recorded time the GPU is idle while a checkpoint is written: ", saves,
                             ", the longest ", FormatDuration(sum.max_ns), InLine(LineOf(events, sum)),
                             ". Its share of the whole run depends on how often the run saves.");
  found.evidence = EventEvidence(events, sum.rows);
  found.recommendations.push_back(
      {"save in the background: the step then waits only until the state is copied to the host", "",
       "torch.distributed.checkpoint.async_save(state_dict, checkpoint_id=path)", "hours"});
  found.recommendations.push_back({"save less often", "", "if step % save_every == 0: save(...)", "minutes"});
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.8, 0.4);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(checkpoint_save) = {
    .id = "checkpoint_save",
    .type = BottleneckType::kIo,
    .title = "The GPU waits while a checkpoint is written",
    .why =
        "Idle time of the GPU while the host is in torch.save, torch.distributed.checkpoint, safetensors or a function "
        "or annotation called save_checkpoint, by recorded stacks and annotations. Reported at 3 % of the "
        "recorded time or more; says that the share of the whole run depends on how often it saves.",
    .saves = "½, 8/10, all of it. Part of host_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::checkpoint_save_rule
