// SPDX-License-Identifier: Apache-2.0
// Requests lose their keys and values because the cache is full, and are computed again.
//
// An engine that has no block left takes a running request's blocks away, and computes its prompt and tokens again
// later. The stake is at most one median iteration with prompts for each request that lost its blocks: engines do not
// record which prompts are computed for the second time. The gain: all of it with a cache that suffices (high), half
// as expected, perhaps nothing, since fewer requests at once decode more slowly. Assumptions.
#include <algorithm>

#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/host_event_view.h"
#include "diagnose/rule.h"
#include "diagnose/serving_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::kv_pressure_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "serving_phases"};
constexpr std::string_view kKinds[] = {"preemption"};
constexpr int64_t kFewest = 2;  // ours: one request may have been an accident

// The time of `preempted` iterations with prompts, or of as many as there are, less what they decode; per device.
int64_t RecomputedNs(const ServingIterations& iterations, int64_t preempted) {
  const int64_t decode = MedianOf(iterations, ServingIteration::Kind::kDecode);
  std::vector<int64_t> lengths;
  for (const ServingIteration& one : iterations)
    if (one.prefill_requests > 0)
      lengths.push_back(std::max<int64_t>(0, one.dur_ns - (one.decode_requests > 0 ? decode : 0)));
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::min(preempted, static_cast<int64_t>(lengths.size())) * *middle;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kKinds);
  if (sum.calls < kFewest) return std::vector<Bottleneck>{};
  int64_t recomputed_ns = 0, iterations = 0;
  for (const ServingIterations& device : ServingDevices(tables)) {
    recomputed_ns += RecomputedNs(device, sum.calls);
    iterations += static_cast<int64_t>(device.size());
  }
  const double share = ledger.Share(recomputed_ns);
  if (share < kEngineShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the cache of keys and values is full: ", FormatCounted(sum.calls, "time"),
                       " a request lost its blocks and is computed again");
  found.description =
      StrCat("In ", iterations, " iterations ", sum.calls,
             " requests were preempted. Computing them again takes up to ", FormatPercent(share), " of the time.");
  found.evidence = EventEvidence(events, sum.rows);
  found.evidence.push_back(
      ServingEvidence(StrCat("as many median iterations with prompts take ", FormatDuration(recomputed_ns)),
                      static_cast<double>(recomputed_ns), "ns"));
  found.recommendations = {
      {"admit fewer requests at once, or give the cache more memory", "",
       "vllm serve MODEL --max-num-seqs 64 --gpu-memory-utilization 0.95   # SGLang: --schedule-conservativeness 1.3 "
       "--mem-fraction-static 0.9",
       "minutes"},
      {"keep the cache in 8 bits, which holds twice the tokens and changes results a little", "",
       "vllm serve MODEL --kv-cache-dtype fp8", "minutes"}};
  const auto stake = static_cast<double>(recomputed_ns);
  found.gain = EstimateGain(
      {.wall_ns = ledger.total.wall_ns, .low_ns = 0, .expected_ns = stake / 2, .high_ns = stake, .confidence = 0.3});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(kv_pressure) = {.id = "kv_pressure",
                     .type = BottleneckType::kMemoryAllocation,
                     .title = "The cache of keys and values is too small for the requests",
                     .why =
                         "Calls of a serving engine that take a running request's blocks away because the cache is "
                         "full: _preempt_request of vLLM, retract_decode of SGLang, _pause_requests of TensorRT-LLM, "
                         "in recorded stacks. Reported from two of them on, where as many median iterations with "
                         "prompts take 5 % of the analysed time or more.",
                     .saves = "0, ½, all of as many median iterations with prompts",
                     .needs = kNeeds,
                     .check = Check};

}  // namespace gapless::internal::kv_pressure_rule
