// SPDX-License-Identifier: Apache-2.0
// Some decode iterations launch their kernels one by one, while others of the same engine replay a graph.
//
// An engine captures graphs for some sizes of a batch; a batch of another size, or above the largest, runs without. The
// stake is what those iterations take longer than the median of the replayed ones. The gain: all of it where the sizes
// are captured, too (high); expected three quarters, since a larger batch has more to compute; at least a third.
// Assumptions.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/serving_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::graph_misses_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "serving_phases"};
constexpr size_t kMinReplays = 3;  // of which the median is the length of an iteration with its graph

struct Misses {
  int64_t decodes = 0, misses = 0, extra_ns = 0, missed_ns = 0, largest_replayed = 0, smallest_missed = 0;
};

void Add(const ServingIterations& iterations, Misses& all) {
  ServingIterations replayed;
  for (const ServingIteration& one : iterations)
    if (one.kind == ServingIteration::Kind::kDecode && one.kernels > 0 && one.replays()) replayed.push_back(one);
  if (replayed.size() < kMinReplays) return;
  const int64_t median = MedianOf(replayed, ServingIteration::Kind::kDecode);
  for (const ServingIteration& one : replayed)
    all.largest_replayed = std::max(all.largest_replayed, one.decode_requests);
  for (const ServingIteration& one : iterations) {
    if (one.kind != ServingIteration::Kind::kDecode || one.kernels == 0) continue;
    ++all.decodes;
    if (one.replays()) continue;
    ++all.misses, all.missed_ns += one.dur_ns, all.extra_ns += std::max<int64_t>(0, one.dur_ns - median);
    all.smallest_missed = all.misses == 1 ? one.decode_requests : std::min(all.smallest_missed, one.decode_requests);
  }
}

std::vector<Recommendation> Advice(const Misses& misses) {
  if (misses.smallest_missed > misses.largest_replayed)
    return {{StrCat("capture graphs up to the largest batch: of ", misses.largest_replayed,
                    " requests one was replayed, from ", misses.smallest_missed, " on none"),
             "", "vllm serve MODEL --max-cudagraph-capture-size N   # SGLang: --cuda-graph-max-bs N", "minutes"}};
  return {{"capture graphs for the sizes of batches that ran without, or pad a batch to the next size that has one", "",
           "vllm serve MODEL --compilation-config '{\"cudagraph_capture_sizes\": [1, 2, 4, 8, 16, 24, 32]}'",
           "minutes"}};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  Misses misses;
  for (const ServingIterations& iterations : ServingDevices(tables)) Add(iterations, misses);
  const LedgerView& ledger = ReadLedger(tables);
  const double share = ledger.Share(misses.extra_ns);
  if (share < kEngineShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "launch_bound";
  found.title = StrCat(misses.misses, " of ", misses.decodes,
                       " decode iterations run without their graph: ", ledger.CostText(misses.extra_ns));
  found.description =
      StrCat("Other decode iterations replay a captured graph. Those without launch kernel by kernel, and take ",
             FormatDuration(misses.extra_ns), " longer in all than the median of the replayed ones.");
  found.evidence.push_back(ServingEvidence(
      StrCat("a decode iteration without a graph takes ", FormatDuration(misses.missed_ns / misses.misses), ", of ",
             misses.smallest_missed, " requests or more; the largest replayed batch has ", misses.largest_replayed),
      static_cast<double>(misses.extra_ns), "ns"));
  found.recommendations = Advice(misses);
  const auto extra = static_cast<double>(misses.extra_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = extra / 3,
                             .expected_ns = extra * 0.75,
                             .high_ns = extra,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(graph_misses) = {
    .id = "graph_misses",
    .type = BottleneckType::kLaunchBound,
    .title = "Some decode iterations run without their CUDA graph",
    .why =
        "Decode iterations of a serving engine most kernels of which were launched one by one, while three others or "
        "more of the same device replayed a graph. The stake is what they take longer than the median replayed one. "
        "Reported at 5 % of the analysed time or more. Where no iteration replays a graph, launch_bound is the rule.",
    .saves = "1/3, ¾, all of what they take longer. Part of launch_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::graph_misses_rule
