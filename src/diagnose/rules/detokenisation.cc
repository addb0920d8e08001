// SPDX-License-Identifier: Apache-2.0
// The device waits while the process that launches its work makes text of tokens.
//
// The gain: text that is made by another process, or of several tokens at once, costs the device nothing (high: all;
// expected four fifths, at least half). These shares are assumptions.
#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::detokenisation_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events"};
constexpr std::string_view kKinds[] = {"detokenisation"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (WorkloadOf(tables.run()) != Workload::kServing) return std::vector<Bottleneck>{};
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kKinds);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kEngineShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "host_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.idle_ns), " while tokens are made text");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the GPU is idle while the process that launches its work makes text of tokens: ",
             FormatCounted(sum.calls, "call"), ", the longest ", FormatDuration(sum.max_ns), ".");
  found.evidence = EventEvidence(events, sum.rows);
  found.recommendations = {
      {"make text of several tokens at once: stream less often", "", "vllm serve MODEL --stream-interval 8", "minutes"},
      {"keep the work out of the process that launches: an engine in a process of its own, or no text at all for "
       "callers "
       "that take token ids",
       "", "SamplingParams(detokenize=False)", "minutes"}};
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.8, 0.5);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(detokenisation) = {.id = "detokenisation",
                        .type = BottleneckType::kHostBound,
                        .title = "The GPU waits while the server makes text of tokens",
                        .why =
                            "Idle time of the GPU while functions run that make text of tokens: the detokenizers of "
                            "vLLM and SGLang and what "
                            "processes their output, in recorded stacks of the process that launches. Reported at 5 % "
                            "of the analysed time or "
                            "more, in recordings of a serving engine.",
                        .saves = "½, 4/5, all of it. Part of host_bound",
                        .needs = kNeeds,
                        .check = Check};

}  // namespace gapless::internal::detokenisation_rule
