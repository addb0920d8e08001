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
#include <map>
#include <optional>

#include "analyses/rows/collective_groups.h"
#include "analyses/rows/communication.h"
#include "analyses/rows/host_events.h"
#include "analyses/rows/ranks.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/link_use.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "communication", "ranks", "collective_groups", "host_events"};

struct Overlap {
  int64_t total_ns = 0, exposed_ns = 0;
  int64_t hidden_ns() const { return total_ns - exposed_ns; }
};

Overlap OverlapOf(const CommunicationRows& communication) {
  Overlap overlap;
  for (size_t row = 0; row < communication.rows(); ++row) {
    if (!communication.IsNull(row, "kind") || communication.IsNull(row, "exposed_ns")) continue;
    overlap.total_ns += communication.Int(row, "total_ns");
    overlap.exposed_ns += communication.Int(row, "exposed_ns");
  }
  return overlap;
}

// Kinds of collectives by exposed time, over all ranks.
std::vector<Evidence> ByKind(const CommunicationRows& communication, const LedgerView& ledger) {
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(communication, "exposed_ns", kMaxRows)) {
    if (communication.IsNull(row, "kind")) continue;
    const std::string kind(communication.Text(row, "kind"));
    const auto same = [&](const Evidence& evidence) { return evidence.text.starts_with(StrCat(kind, ":")); };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    int64_t exposed = 0, calls = 0;
    std::vector<int64_t> longest;
    for (size_t other = 0; other < communication.rows(); ++other) {
      if (communication.Text(other, "kind") != kind) continue;
      exposed += communication.Int(other, "exposed_ns"), calls += communication.Int(other, "calls");
      if (longest.size() < kMaxRows && !communication.IsNull(other, "gpu_op_id"))
        longest.push_back(communication.Int(other, "gpu_op_id"));
    }
    all.push_back({StrCat(kind, ": ", FormatCounted(calls, "call"), " in the recording, not hidden for ",
                          ledger.CostText(exposed)),
                   static_cast<double>(exposed), "ns", "gpu_op", std::move(longest), ""});
  }
  return all;
}

struct Ranks {
  const DeviceBreakdown *least = nullptr, *most = nullptr;  // exposed communication
  bool uneven() const {
    return least != nullptr && least != most && least->rank && most->rank &&
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

// The exposed time, split into waiting and transfer by collectives that were matched over the ranks.
struct Waiting {
  int64_t ns = 0;                        // waiting for other ranks
  int64_t opening_ns = 0;                // the same up to the first collective that all recorded: their recorders start
  int64_t slow_rank = kAbsent;           // the one that causes at least half of the waiting
  bool known = false;                    // there was something to compare
  std::vector<int64_t> without_opening;  // exposed time by device, as in the ledger
};

Waiting WaitingOf(const RanksRows& ranks, const LedgerView& ledger) {
  Waiting waiting;
  int64_t most = 0, caused = 0, compared = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> opening;  // by trace and device
  for (size_t row = 0; row < ranks.rows(); ++row) {
    const int64_t mine = ranks.Int(row, "caused_wait_ns");
    waiting.ns += ranks.Int(row, "waiting_ns"), compared += ranks.Int(row, "compared"), caused += mine;
    opening[{ranks.Int(row, "trace"), ranks.Int(row, "device")}] = ranks.Int(row, "opening_waiting_ns");
    if (mine > most && !ranks.IsNull(row, "rank")) most = mine, waiting.slow_rank = ranks.Int(row, "rank");
  }
  waiting.known = compared > 0;
  if (static_cast<double>(most) < kOneStragglerShare * static_cast<double>(caused)) waiting.slow_rank = kAbsent;
  for (const DeviceBreakdown& device : ledger.devices) {
    const int64_t start = waiting.known ? opening[{device.trace, device.device}] : 0;
    waiting.opening_ns += start;
    waiting.without_opening.push_back(device.exposed_comm_ns - start);
  }
  return waiting;
}

std::vector<Evidence> EvidenceOf(const CommunicationRows& communication, const LedgerView& ledger, double hidden,
                                 const Ranks& ranks, const Waiting& waiting) {
  const std::string overlap = StrCat(FormatPercent(hidden), " of communication time overlaps computation");
  std::vector<Evidence> all{{overlap, hidden, "share", "communication", {}, ""}};
  if (waiting.ns > 0)
    all.push_back({StrCat("waiting for other ranks: ", ledger.CostText(waiting.ns), "; the rest is transfer"),
                   static_cast<double>(waiting.ns),
                   "ns",
                   "ranks",
                   {},
                   ""});
  if (waiting.opening_ns > 0)
    all.push_back(
        {StrCat("not counted: ", ledger.CostText(waiting.opening_ns),
                " of waiting before the first collective that all ranks recorded: recorders do not start at once"),
         static_cast<double>(waiting.opening_ns),
         "ns",
         "ranks",
         {},
         ""});
  for (Evidence& evidence : ByKind(communication, ledger)) {
    if (waiting.opening_ns > 0) evidence.text += ", including waiting while the recorders start";
    all.push_back(std::move(evidence));
  }
  if (waiting.known || !ranks.uneven()) return all;
  const std::string uneven = StrCat("communication that nothing hides, on rank ", *ranks.most->rank, ": ",
                                    FormatDuration(ranks.most->exposed_comm_ns), ", on rank ", *ranks.least->rank, ": ",
                                    FormatDuration(ranks.least->exposed_comm_ns), ", over the recording");
  all.push_back({uneven, {}, "", "ledger", {}, ""});
  return all;
}

// Returns the kind of collective with the most exposed time; "" if the recorder does not record kinds.
std::string MainKind(const CommunicationRows& communication) {
  std::map<std::string_view, int64_t> exposed;
  for (size_t row = 0; row < communication.rows(); ++row)
    if (!communication.IsNull(row, "kind"))
      exposed[communication.Text(row, "kind")] += communication.Int(row, "exposed_ns");
  const auto most = std::max_element(exposed.begin(), exposed.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == exposed.end() ? std::string() : std::string(most->first);
}

// The framework features that the program was seen to use.
struct Use {
  std::string kind;  // kind of collective with the most exposed time; "": not recorded
  bool ddp = false;
  bool trains = false;        // it has steps or wraps its model: all-reduces are of gradients
  double calls_per_step = 0;  // calls per step of that kind, on the rank with the most

  // One by one, not in buckets: DistributedDataParallel makes some ten calls a step.
  bool one_by_one() const { return !ddp && calls_per_step > 50; }
};

Use UseOf(Tables& tables, const LedgerView& ledger) {
  Use use{.kind = MainKind(tables.Get<CommunicationRows>())};
  const auto events = tables.Get<HostEventsRows>();
  const auto groups = tables.Get<CollectiveGroupsRows>();
  for (size_t row = 0; row < events.rows(); ++row) use.ddp |= events.Text(row, "kind") == "ddp";
  use.trains = use.ddp || ledger.step_rows > 0;
  std::map<int64_t, double> calls;  // by trace
  for (size_t row = 0; row < groups.rows(); ++row)
    if (groups.Text(row, "kind") == use.kind && !groups.IsNull(row, "calls_per_step"))
      calls[groups.Int(row, "trace")] += groups.Real(row, "calls_per_step");
  for (const auto& [trace, each] : calls) use.calls_per_step = std::max(use.calls_per_step, each);
  return use;
}

Recommendation OverlapAdvice(const Use& use) {
  const std::string_view kind = use.kind;
  if (kind == "all_gather" || kind == "reduce_scatter")
    return {"gather the next layer's parameters while this one computes", "",
            "FSDP(model, forward_prefetch=True, limit_all_gathers=False)", "minutes"};
  if (kind == "all_to_all" || kind == "send_recv" || kind == "send" || kind == "recv")
    return {StrCat("overlap ", kind,
                   " with computation: start the next batch's exchange before this one's result is needed"),
            "", "", "days"};
  if (kind == "broadcast")
    return {"do not broadcast buffers in every forward pass", "", "DDP(model, broadcast_buffers=False)", "minutes"};
  if (!use.trains)
    return {
        "overlap it with computation: split the batch in two, and let one half communicate while the other computes",
        "", "", "days"};
  if (use.one_by_one())
    return {StrCat("reduce gradients in few large buckets while the backward pass computes, not in ",
                   FormatNumber(use.calls_per_step, 0), " calls a step: DistributedDataParallel does"),
            fixes::kDdpBucket.Item("50"), "model = DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True)",
            "hours"};
  return {"let gradients leave earlier: tune bucket_cap_mb and use gradient_as_bucket_view",
          fixes::kDdpBucket.Item("50"), "DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)",
          "minutes"};
}

std::optional<Recommendation> EvenOut(const Ranks& ranks, const Waiting& waiting, int64_t stake) {
  const int64_t slow = waiting.known ? waiting.slow_rank : ranks.uneven() ? *ranks.least->rank : kAbsent;
  if (slow != kAbsent)
    return Recommendation{
        StrCat("find out what delays rank ", slow, ": that rank waits least, and the others wait for it"),
        fixes::kStraggler.Item(), "", "hours"};
  if (waiting.known && 2 * waiting.ns > stake)
    return Recommendation{
        "give all ranks the same work: most of this time they wait for each other, and no single rank causes most of "
        "it",
        fixes::kStraggler.Item(), "", "hours"};
  return std::nullopt;
}

std::vector<Recommendation> Recommend(double overlap_share, const Use& use, const std::optional<LinkUse>& links) {
  std::vector<Recommendation> all;
  if (links && links->far_below()) all.push_back(CheckTransport(*links));
  if (overlap_share < kGoodOverlapShare) all.push_back(OverlapAdvice(use));
  const bool gradients =
      use.kind == "all_reduce" || use.kind == "reduce_scatter" || use.kind == "other" || use.kind.empty();
  if (gradients && use.trains && !use.one_by_one())
    all.push_back({"communicate less often: accumulate gradients over several batches", fixes::kNosync.Item("4"),
                   "with model.no_sync(): loss.backward()", "minutes"});
  if (all.empty())
    all.push_back(
        {StrCat("most communication is hidden already; send less: ", use.kind.empty() ? "the messages" : use.kind,
                " with fewer bits per value, or over fewer ranks"),
         "", "", "days"});
  return all;
}

// Returns the most that better overlap can hide: each device's computation that runs alone.
struct Hideable {
  int64_t alone_ns = 0;    // computation beside which nothing is sent
  double expected_ns = 0;  // half of the stake, no more than that
  bool bounded = false;    // there is less computation than half of the stake
};

Hideable HideableOf(const CommunicationRows& communication, const LedgerView& ledger, const Waiting& waiting) {
  Hideable all;
  for (size_t i = 0; i < ledger.devices.size(); ++i) {
    const DeviceBreakdown& device = ledger.devices[i];
    int64_t alone = device.compute_ns;
    for (size_t row = 0; row < communication.rows(); ++row)
      if (communication.IsNull(row, "kind") && !communication.IsNull(row, "exposed_ns") &&
          communication.Int(row, "trace") == device.trace && communication.Int(row, "device") == device.device)
        alone -= communication.Int(row, "total_ns") - communication.Int(row, "exposed_ns");
    const double half = 0.5 * static_cast<double>(waiting.without_opening[i]);
    all.alone_ns += alone;
    all.expected_ns += std::min(half, static_cast<double>(std::max<int64_t>(alone, 0)));
    all.bounded |= static_cast<double>(alone) < half;
  }
  return all;
}

Evidence EvidenceOf(const Hideable& hideable, const LedgerView& ledger) {
  return {StrCat("computation that could hide communication: ", ledger.CostText(hideable.alone_ns),
                 "; overlap removes no more than that"),
          static_cast<double>(hideable.alone_ns),
          "ns",
          "ledger",
          {},
          ""};
}

// Returns true if the first advice is to hide communication, not to send less, use another link, or wait less.
bool OverlapComesFirst(const std::vector<Recommendation>& all, const Use& use) {
  return !all.empty() && use.kind != "broadcast" && all[0].text == OverlapAdvice(use).text;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
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
  if (std::optional<Recommendation> even = EvenOut(ranks, waiting, stake))
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
        "the advice on the connection comes first. Overlap is expected to hide half, but no more than there is "
        "computation that runs alone.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal
