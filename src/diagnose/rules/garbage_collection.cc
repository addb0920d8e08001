// SPDX-License-Identifier: Apache-2.0
// The device waits while Python collects garbage.
//
// Python's collector stops all threads of Python; with millions of live objects a full collection takes tens to
// hundreds of milliseconds, and on several ranks it strikes at different steps, so that each makes all others wait. The
// gain: the idle time goes when collections are made by hand and rarely (high: all; expected nine tenths: some remain),
// at least half where other host work follows at once. These shares are assumptions.
#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "diagnose/whole_run_view.h"

namespace gapless::internal::garbage_collection_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "whole_run"};
constexpr std::string_view kKinds[] = {"garbage_collection"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (WholeRunView(tables).knows()) return std::vector<Bottleneck>{};  // run_garbage knows how often it happens
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kKinds);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kGarbageCollectionShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "host_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.idle_ns), " while Python collects garbage");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the GPU is idle while the host collects garbage: ", FormatCounted(sum.calls, "collection"),
             ", the longest ", FormatDuration(sum.max_ns), ".");
  found.evidence = EventEvidence(events, sum.rows);
  found.recommendations.push_back(
      {"collect garbage by hand and rarely, at the same step on all ranks", "",
       "gc.collect(); gc.freeze(); gc.disable()  # once, before the loop\nif step % 1000 == 0: gc.collect()",
       "minutes"});
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.9, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(garbage_collection) = {
    .id = "garbage_collection",
    .type = BottleneckType::kHostBound,
    .title = "The GPU waits while Python collects garbage",
    .why =
        "Idle time of the GPU while Python's garbage collector runs: events named 'Python GC', which PyTorch records "
        "on request, and calls of gc.collect in recorded stacks. Reported at 2 % of the analysed time or more: loops "
        "without it lose nothing, so less is the noise of a short recording.",
    .saves = "½, 9/10, all of it. Part of host_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::garbage_collection_rule
