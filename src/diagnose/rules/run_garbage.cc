// SPDX-License-Identifier: Apache-2.0
// Python collects garbage so often, over the whole run, that the steps take noticeably longer.
#include "diagnose/run_pause.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::run_garbage_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  return CheckRunPause(
      run, {"garbage",
            kGarbageCollectionShare,
            "Python's garbage collection",
            "collection",
            "collections",
            {"collect garbage by hand and rarely, at the same step on all ranks", "",
             "gc.collect(); gc.freeze(); gc.disable()  # once, before the loop\nif step % 1000 == 0: gc.collect()",
             "minutes"}});
}

}  // namespace

RULE(run_garbage) = {
    .id = "run_garbage",
    .type = BottleneckType::kHostBound,
    .title = "Over the whole run, Python collects garbage",
    .why =
        "Garbage collections that the agent saw in every step: those of the oldest generation, and others of 0.2 ms or "
        "more. Reported at 2 % of the steps' time or more.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_garbage_rule
