// SPDX-License-Identifier: Apache-2.0
// Requests that are being decoded wait while the prompts of others are computed.
//
// A decode iteration takes its median; an iteration that also computes prompts takes longer, and one that computes
// prompts only, between iterations that decode, makes every running request wait for all of it. The stake is that
// waiting. Spreading it does not make the engine faster: the same tokens are computed. What gets shorter is the longest
// time between two tokens, so there is no gain in throughput to promise.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/serving_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::prefill_blocks_decode_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "serving_phases"};
constexpr double kStalledShare = 0.10;  // ours: below, the percentiles that objectives are about do not see it
constexpr int64_t kTimesLonger = 3;     // ours: a token that comes after three times the median is seen by a reader

struct Stalls {
  int64_t stalled_ns = 0, longest_ns = 0, median_ns = 0, stalls = 0, requests = 0;
};

using Kind = ServingIteration::Kind;

void Add(const ServingIterations& iterations, Stalls& all) {
  const int64_t median = MedianOf(iterations, Kind::kDecode);
  if (median == 0 || iterations.size() < kMinIterations) return;
  for (size_t i = 0; i < iterations.size(); ++i) {
    const ServingIteration& one = iterations[i];
    if (one.kind == Kind::kDecode) continue;
    // Requests that wait through a prefill are those that the next decode iteration has beside the new ones.
    int64_t waiting = one.decode_requests;
    if (one.kind == Kind::kPrefill && i > 0 && i + 1 < iterations.size())
      waiting = std::min(iterations[i - 1].decode_requests, iterations[i + 1].decode_requests);
    const int64_t extra = one.dur_ns - (one.kind == Kind::kMixed ? median : 0);
    if (waiting == 0 || one.dur_ns < kTimesLonger * median) continue;
    ++all.stalls, all.stalled_ns += extra, all.requests += waiting;
    if (one.dur_ns > all.longest_ns) all.longest_ns = one.dur_ns, all.median_ns = median;
  }
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  Stalls stalls;
  for (const ServingIterations& iterations : ServingDevices(tables)) Add(iterations, stalls);
  const LedgerView& ledger = ReadLedger(tables);
  const double share = ledger.Share(stalls.stalled_ns);
  if (share < kStalledShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("prompts keep running requests waiting: up to ", FormatDuration(stalls.longest_ns),
                       " between two tokens, ", FormatDuration(stalls.median_ns), " otherwise");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time requests that are being decoded wait while prompts of others are ",
                             "computed. Inter-token latency suffers, throughput does not.");
  found.evidence.push_back(
      ServingEvidence(StrCat(FormatCounted(stalls.stalls, "iteration"), " with prompts take ", kTimesLonger,
                             " times the median decode iteration or more, with ",
                             FormatNumber(static_cast<double>(stalls.requests) / static_cast<double>(stalls.stalls), 1),
                             " requests waiting on average"),
                      static_cast<double>(stalls.stalled_ns), "ns"));
  found.recommendations = {
      {"compute prompts in smaller pieces beside the decoding (chunked prefill)", "",
       "vllm serve MODEL --max-num-batched-tokens 2048   # SGLang: --chunked-prefill-size 2048 --enable-mixed-chunk",
       "minutes"},
      {"compute prompts on other GPUs than tokens (disaggregated prefill), where objectives are tight", "", "",
       "days"}};
  return std::vector{std::move(found)};
}

}  // namespace

RULE(prefill_blocks_decode) = {
    .id = "prefill_blocks_decode",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Prompts keep requests that are being decoded waiting",
    .why =
        "Iterations of a serving engine that compute prompts while requests are being decoded, and take three times "
        "the median decode iteration or more; also those that compute prompts alone between two that decode. Reported "
        "where the requests wait for 10 % of the analysed time or more, in recordings of 8 iterations and more. It "
        "names no gain: smaller pieces shorten the longest time between two tokens, not the work.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::prefill_blocks_decode_rule
