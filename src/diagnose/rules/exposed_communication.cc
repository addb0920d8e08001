// SPDX-License-Identifier: Apache-2.0
// Communication that no computation hides.
//
// A collective's kernel also runs while it waits for the slowest rank, so exposed time is transfer and waiting
// together. If collectives could be matched over the ranks, table ranks separates the two, and the rule straggler
// reports the waiting. The gain: all of it when everything overlaps, or less is sent over faster links (high). Better
// overlap through buckets rarely hides the last bucket, and waiting for a slow rank stays: we expect half and at least
// a tenth. These shares are assumptions. Where overlap is the first advice, no more can be hidden than there is
// computation that runs alone, device by device.
#include <algorithm>
#include <optional>

#include "analyses/rows/collective_groups.h"
#include "analyses/rows/communication.h"
#include "analyses/rows/ranks.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/link_use.h"
#include "diagnose/rule.h"
#include "diagnose/rules/exposed_communication/exposure.h"
#include "diagnose/rules/exposed_communication/overlap_advice.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::exposed_communication_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger",      "communication",  "ranks", "collective_groups",
                                       "host_events", "parallel_layout"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  if (ledger.Share(ledger.total.exposed_comm_ns) < kExposedCommunicationShare) return std::vector<Bottleneck>{};
  const Waiting waiting = WaitingOf(tables.Get<RanksRows>(), ledger);
  const int64_t stake = ledger.total.exposed_comm_ns - waiting.opening_ns;
  const double share = ledger.Share(stake);
  if (share < kExposedCommunicationShare) return std::vector<Bottleneck>{};
  const auto communication = tables.Get<CommunicationRows>();
  const Overlap overlap = OverlapOf(communication);
  const double hidden =
      overlap.total_ns > 0 ? static_cast<double>(overlap.hidden_ns()) / static_cast<double>(overlap.total_ns) : 0;
  const Ranks ranks = CompareRanks(ledger);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("communication that nothing hides takes ", ledger.CostText(stake));
  found.description =
      StrCat("For ", FormatPercent(share), " of the time communication kernels run and nothing computes; ",
             FormatPercent(hidden), " of all communication is hidden under computation",
             ledger.WorstText(waiting.without_opening), ".");
  found.evidence = EvidenceOf(communication, ledger, hidden, ranks, waiting);
  const Use use = UseOf(tables, ledger);
  const std::optional<LinkUse> links = LinkUseOf(tables.Get<CollectiveGroupsRows>(), ledger, use.kind);
  if (links) found.evidence.push_back(EvidenceOf(*links));
  found.recommendations = Recommend(hidden, use, links);
  if (std::optional<Recommendation> even = EvenOut(ranks, waiting, stake, use))
    found.recommendations.insert(2 * waiting.ns > stake ? found.recommendations.begin() : found.recommendations.end(),
                                 std::move(*even));
  const auto exposed = static_cast<double>(stake);
  double expected = exposed * 0.5;
  if (OverlapComesFirst(found.recommendations, use)) {
    const Hideable hideable = HideableOf(communication, ledger, waiting);
    expected = hideable.expected_ns;
    if (hideable.bounded) found.evidence.push_back(EvidenceOf(hideable, ledger));
  }
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = std::min(exposed * 0.1, expected),
                             .expected_ns = expected,
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
        "Time in which communication kernels run on a GPU and no other kernel does. Reported at 5 % of the analysed "
        "time or more (TraceLens; the TensorBoard plugin from 10 %). If less than 70 % of the communication overlaps, "
        "the advice is better bucketing. If collectives can be matched over the ranks, waiting is separated from "
        "transfer, and the rank that comes last is named. Waiting up to the first collective that all ranks recorded "
        "does not count, because recorders do not start at the same time. Without a match, the rank with the least "
        "exposed time is named if the most is a tenth more. If message sizes are recorded, the rule reports the "
        "bandwidth of the links. If even the fastest call of the kind with the most exposed time reaches less than a "
        "tenth of NVLink or xGMI (messages of 4 MiB and more, groups of at most 8), or of 32 GB/s (1 MiB and more), "
        "the advice on the connection comes first. Messages between the stages of a pipeline are no matter of overlap: "
        "see pipeline_bubble. Overlap is expected to hide half, but no more than there is "
        "computation that runs alone.",
    .saves =
        "1/10, ½, all of it; where overlap is the first advice, the first two are at most the computation that runs "
        "alone",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::exposed_communication_rule
