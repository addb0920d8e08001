// SPDX-License-Identifier: Apache-2.0
// The device waits while the process that launches its work makes text of tokens.
//
// The gain: text that is made by another process, or of several tokens at once, costs the device nothing (high: all;
// expected four fifths, at least half). These shares are assumptions.
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::detokenisation_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events"};
constexpr std::string_view kKinds[] = {"detokenisation"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  std::optional<Bottleneck> found =
      IdleOfEngine(tables, kKinds, "the process that launches its work makes text of tokens");
  if (!found) return std::vector<Bottleneck>{};
  found->title += " while tokens are made text";
  found->recommendations = {
      {"make text of several tokens at once: stream less often", "", "vllm serve MODEL --stream-interval 8", "minutes"},
      {"keep the work out of the process that launches: an engine in a process of its own, or no text at all for "
       "callers that take token ids",
       "", "SamplingParams(detokenize=False)", "minutes"}};
  return std::vector{*std::move(found)};
}

}  // namespace

RULE(detokenisation) = {
    .id = "detokenisation",
    .type = BottleneckType::kHostBound,
    .title = "The GPU waits while the server makes text of tokens",
    .why =
        "Idle time of the GPU while functions run that make text of tokens: the detokenizers of vLLM and SGLang and "
        "what processes their output, in recorded stacks of the process that launches. Reported at 5 % of the analysed "
        "time or more, in recordings of a serving engine.",
    .saves = "½, 4/5, all of it. Part of host_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::detokenisation_rule
