// SPDX-License-Identifier: Apache-2.0
// Decode iterations with few requests: the device reads all weights for a handful of tokens.
//
// An iteration that decodes is bound by reading the weights until its batch reaches the ratio of arithmetic to memory
// speed, some hundred requests on the cards of today (Pope and others 2022, Efficiently Scaling Transformer Inference).
// Far below that, twice the requests take hardly longer. The gain is in tokens a second: with the batch doubled, half
// of the decode time per token goes (expected); a quarter at least; with eight times the batch seven eighths. It takes
// requests that wait, or callers that send more at once.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/serving_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::small_decode_batch_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "serving_phases"};
// Ours: at 8 requests the matrix units wait for weights in nine tenths of the time on every card since the V100.
constexpr double kFewRequests = 8;
constexpr double kMostOfTheTime = 0.5;  // ours: of the analysed time in such iterations, with the device at work

struct Decodes {
  int64_t iterations = 0, requests = 0, dur_ns = 0, busy_ns = 0, largest = 0;
};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  Decodes all;
  for (const ServingIterations& iterations : ServingDevices(tables))
    for (const ServingIteration& one : iterations) {
      if (one.kind != ServingIteration::Kind::kDecode) continue;
      ++all.iterations, all.requests += one.decode_requests;
      all.dur_ns += one.dur_ns, all.busy_ns += one.busy_ns, all.largest = std::max(all.largest, one.decode_requests);
    }
  if (all.iterations < static_cast<int64_t>(kMinIterations)) return std::vector<Bottleneck>{};
  const double mean = static_cast<double>(all.requests) / static_cast<double>(all.iterations);
  const LedgerView& ledger = ReadLedger(tables);
  const double share = ledger.Share(all.busy_ns);
  if (mean > kFewRequests || share < kMostOfTheTime) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title =
      StrCat("decode iterations have ", FormatNumber(mean, 1), " requests: all weights are read for as few tokens");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the GPU decodes, and each iteration reads the weights once, whatever its batch. "
             "More requests at once cost little more time.");
  found.evidence.push_back(ServingEvidence(
      StrCat(FormatCounted(all.iterations, "decode iteration"), ", ", FormatDuration(all.dur_ns / all.iterations),
             " each, of at most ", all.largest, " requests"),
      mean, "requests"));
  found.recommendations = {
      {"let more requests run at once, if some wait: raise the engine's limit", "",
       "vllm serve MODEL --max-num-seqs 256   # SGLang: --max-running-requests 256", "minutes"},
      {"send more requests at once, or serve on fewer or smaller GPUs; where there is one caller only, speculative "
       "decoding makes several tokens of one reading of the weights",
       "", "vllm serve MODEL --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 4}'", "hours"}};
  const auto time = static_cast<double>(all.busy_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.25 * time,
                             .expected_ns = 0.5 * time,
                             .high_ns = 0.875 * time,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(small_decode_batch) = {.id = "small_decode_batch",
                            .type = BottleneckType::kSmallBatch,
                            .title = "Decode iterations have few requests",
                            .why =
                                "Decode iterations of a serving engine with 8 requests or fewer on average, in which "
                                "the GPU works for half of the analysed time or more; 8 iterations at least. An "
                                "iteration reads every weight once; until some hundred requests that takes longer than "
                                "the arithmetic (Pope and others 2022), so more requests are tokens that cost little.",
                            .saves = "¼, ½, 7/8 of the decode time per token",
                            .needs = kNeeds,
                            .check = Check};

}  // namespace gapless::internal::small_decode_batch_rule
