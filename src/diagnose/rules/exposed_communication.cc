// SPDX-License-Identifier: Apache-2.0
// Communication that no computation hides.
//
// A collective's kernel also runs while it waits for the slowest rank, so exposed time is transfer and waiting
// together; what the ranks show of each other tells them apart (the rank that waits least is the one the others wait
// for). The gain: all of it when everything overlaps (high). Better overlap through buckets rarely hides the last
// bucket, and waiting for a slow rank stays: we expect half and at least a tenth.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "communication"};

struct Overlap {
  int64_t total_ns = 0, exposed_ns = 0;
  int64_t hidden_ns() const { return total_ns - exposed_ns; }
};

Overlap OverlapOf(const Table& communication) {
  Overlap overlap;
  for (size_t row = 0; row < communication.rows(); ++row) {
    if (!communication.IsNull(row, "kind") || communication.IsNull(row, "exposed_ns")) continue;
    overlap.total_ns += communication.Int(row, "total_ns");
    overlap.exposed_ns += communication.Int(row, "exposed_ns");
  }
  return overlap;
}

// Kinds of collectives by exposed time, over all ranks.
std::vector<Evidence> ByKind(const Table& communication, const LedgerView& ledger) {
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(communication, "exposed_ns", kMostRows)) {
    if (communication.IsNull(row, "kind")) continue;
    const std::string kind(communication.Text(row, "kind"));
    const auto same = [&](const Evidence& one) { return one.text.starts_with(StrCat(kind, ":")); };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    int64_t exposed = 0, calls = 0;
    std::vector<int64_t> longest;
    for (size_t other = 0; other < communication.rows(); ++other) {
      if (communication.Text(other, "kind") != kind) continue;
      exposed += communication.Int(other, "exposed_ns"), calls += communication.Int(other, "calls");
      if (longest.size() < kMostRows && !communication.IsNull(other, "gpu_op_id"))
        longest.push_back(communication.Int(other, "gpu_op_id"));
    }
    all.push_back({StrCat(kind, ": ", FormatCount(calls), " calls, exposed ", ledger.CostText(exposed)),
                   static_cast<double>(exposed), "ns", "gpu_op", std::move(longest), ""});
  }
  return all;
}

struct Ranks {
  const DeviceBreakdown *least = nullptr, *most = nullptr;  // exposed communication
  bool uneven() const {
    return least != nullptr && least != most && least->rank != kAbsent &&
           static_cast<double>(most->exposed_comm_ns) > kImbalance * static_cast<double>(least->exposed_comm_ns);
  }
};

Ranks CompareRanks(const LedgerView& ledger) {
  if (ledger.devices.size() < 2) return {};
  const auto [least, most] =
      std::minmax_element(ledger.devices.begin(), ledger.devices.end(),
                          [](const auto& a, const auto& b) { return a.exposed_comm_ns < b.exposed_comm_ns; });
  return {&*least, &*most};
}

std::vector<Evidence> EvidenceOf(const Table& communication, const LedgerView& ledger, double hidden,
                                 const Ranks& ranks) {
  const std::string overlap = StrCat(FormatPercent(hidden), " of communication overlaps computation");
  std::vector<Evidence> all{{overlap, hidden, "share", "communication", {}, ""}};
  for (Evidence& one : ByKind(communication, ledger)) all.push_back(std::move(one));
  if (!ranks.uneven()) return all;
  const std::string uneven =
      StrCat("exposed on rank ", ranks.most->rank, ": ", FormatDuration(ranks.most->exposed_comm_ns), ", on rank ",
             ranks.least->rank, ": ", FormatDuration(ranks.least->exposed_comm_ns), ", over the recording");
  all.push_back({uneven, {}, "", "ledger", {}, ""});
  return all;
}

// The kind of collective with the most exposed time; "" when the recorder did not tell kinds.
std::string MainKind(const Table& communication) {
  std::map<std::string_view, int64_t> exposed;
  for (size_t row = 0; row < communication.rows(); ++row)
    if (!communication.IsNull(row, "kind"))
      exposed[communication.Text(row, "kind")] += communication.Int(row, "exposed_ns");
  const auto most = std::max_element(exposed.begin(), exposed.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == exposed.end() ? std::string() : std::string(most->first);
}

Recommendation OverlapAdvice(std::string_view kind) {
  if (kind == "all_gather" || kind == "reduce_scatter")
    return {"gather the next layer's parameters while this one computes", "",
            "FSDP(model, forward_prefetch=True, limit_all_gathers=False)", "minutes"};
  if (kind == "all_to_all" || kind == "send_recv" || kind == "send" || kind == "recv")
    return {StrCat("overlap ", kind,
                   " with computation: start the next batch's exchange before this one's result is needed"),
            "", "", "days"};
  return {"let gradients leave earlier: tune bucket_cap_mb and use gradient_as_bucket_view", "ddp_bucket=50",
          "DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)", "minutes"};
}

std::vector<Recommendation> Recommend(const Ranks& ranks, double overlap_share, std::string_view kind) {
  std::vector<Recommendation> all;
  if (overlap_share < kGoodOverlapShare) all.push_back(OverlapAdvice(kind));
  if (kind == "all_reduce" || kind == "reduce_scatter" || kind == "other" || kind.empty())
    all.push_back({"communicate less often: accumulate gradients over several batches", "nosync=4",
                   "with model.no_sync(): loss.backward()", "minutes"});
  if (ranks.uneven())
    all.push_back({StrCat("find out what delays rank ", ranks.least->rank, ": it waits least, the others wait for it"),
                   "straggler", "", "hours"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  const int64_t stake = ledger.total.exposed_comm_ns;
  const double share = ledger.Share(stake);
  if (share < kExposedCommunicationShare) return std::vector<Bottleneck>{};
  const Table& communication = tables.Get("communication");
  const Overlap overlap = OverlapOf(communication);
  const double hidden =
      overlap.total_ns > 0 ? static_cast<double>(overlap.hidden_ns()) / static_cast<double>(overlap.total_ns) : 0;
  const Ranks ranks = CompareRanks(ledger);
  Bottleneck found;
  found.id = "exposed_communication";
  found.type = BottleneckType::kMultiGpuComm;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = StrCat("communication runs alone for ", ledger.CostText(stake));
  found.description =
      StrCat("For ", FormatPercent(share), " of the time communication kernels run and nothing computes; ",
             FormatPercent(hidden), " of all communication is hidden under computation",
             ledger.WorstText(&DeviceBreakdown::exposed_comm_ns), ".");
  found.evidence = EvidenceOf(communication, ledger, hidden, ranks);
  found.recommendations = Recommend(ranks, hidden, MainKind(communication));
  const auto exposed = static_cast<double>(stake);
  found.gain = EstimateGain({.fix = found.recommendations.empty() ? std::string_view() : found.recommendations[0].fix,
                             .wall_ns = ledger.total.wall_ns,
                             .low_ns = exposed * 0.1,
                             .expected_ns = exposed * 0.5,
                             .high_ns = exposed,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(exposed_communication) = {
    .id = "exposed_communication",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Communication runs while nothing computes",
    .why =
        "Time in which communication kernels run on a device and no other kernel does. Speaks from 5 % of the "
        "time (TraceLens; the TensorBoard plugin from 10 %). Overlap under 70 % of the communication asks "
        "for better bucketing; ranks whose exposed time differs by more than a tenth point to a straggler, "
        "the rank that waits least.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless
