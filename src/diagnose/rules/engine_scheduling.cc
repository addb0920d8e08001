// SPDX-License-Identifier: Apache-2.0
// The device waits between two iterations while a serving engine chooses the next requests.
//
// The gain: an engine that schedules the next iteration while the device computes hides all of it where an iteration
// takes longer than the scheduler (high), most likely four fifths, since results of one iteration still decide on the
// next; at least half. These shares are assumptions.
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::engine_scheduling_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events"};
constexpr std::string_view kKinds[] = {"engine_scheduling"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  std::optional<Bottleneck> found =
      IdleOfEngine(tables, kKinds, "the engine chooses requests, prepares their inputs and takes up their results");
  if (!found) return std::vector<Bottleneck>{};
  found->title += " while the engine schedules";
  found->recommendations = {
      {"let the engine schedule the next iteration while the GPU computes this one: SGLang does unless "
       "--disable-overlap-schedule forbids it",
       "", "vllm serve MODEL --async-scheduling", "minutes"},
      {"decode several tokens between two rounds of scheduling", "",
       "python -m sglang.launch_server --model-path MODEL --num-continuous-decode-steps 4", "minutes"}};
  return std::vector{*std::move(found)};
}

}  // namespace

RULE(engine_scheduling) = {
    .id = "engine_scheduling",
    .type = BottleneckType::kHostBound,
    .title = "The GPU waits while the serving engine schedules",
    .why =
        "Idle time of the GPU while functions of a serving engine run that choose requests, prepare their inputs and "
        "take up results: the schedulers of vLLM, SGLang and TensorRT-LLM, in recorded stacks. Reported at 5 % of the "
        "analysed time or more, in recordings of a serving engine.",
    .saves = "½, 4/5, all of it. Part of host_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::engine_scheduling_rule
