// SPDX-License-Identifier: Apache-2.0
// Many collectives of small messages: latency, not bandwidth.
//
// Below 256 KiB a collective takes about as long as an empty one (20 to 100 µs between devices of a host, more between
// hosts). n of them coalesced take the time of one plus the bytes. The gain: nine tenths of their exposed time (high);
// we expect six tenths, since some depend on each other, and at least a quarter. These shares are assumptions.
#include <algorithm>
#include <cmath>

#include "analyses/rows/collective_groups.h"
#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::small_collectives_rule {
namespace {

// Ours: small messages from which coalescing is worth the code; fewer a step than kSmallCollectivesPerStep are the
// barrier, the loss and the counters that every loop has.
constexpr double kSmallCollectivesShare = 0.02;
constexpr double kSmallCollectivesPerStep = 10;

constexpr std::string_view kNeeds[] = {"ledger", "collective_groups", "host_events"};

struct Small {
  int64_t exposed_ns = 0, calls = 0;
  std::vector<size_t> rows;  // with small calls, most exposed first
};

Small Read(const CollectiveGroupsRows& groups) {
  Small small;
  for (size_t row = 0; row < groups.rows(); ++row) {
    small.exposed_ns += groups.Int(row, "small_exposed_ns");
    if (!groups.IsNull(row, "device")) small.calls += groups.Int(row, "small_calls");
  }
  small.rows = LargestRows(groups, "small_exposed_ns");
  return small;
}

std::vector<Evidence> EvidenceOf(const CollectiveGroupsRows& groups, const Small& small) {
  std::vector<Evidence> all;
  std::vector<std::string_view> kinds;
  for (const size_t row : small.rows) {
    const std::string_view kind = groups.Text(row, "kind");
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    kinds.push_back(kind);
    int64_t calls = 0, exposed = 0;
    std::vector<size_t> same;
    for (const size_t other : small.rows)
      if (groups.Text(other, "kind") == kind)
        calls += groups.Int(other, "small_calls"), exposed += groups.Int(other, "small_exposed_ns"),
            same.push_back(other);
    all.push_back({.text = StrCat(kind, ": ", FormatCounted(calls, "call"), " of less than 256 KiB, not hidden for ",
                                  FormatDuration(exposed / std::max<int64_t>(1, calls)),
                                  " each; waiting for other ranks is not counted"),
                   .value = static_cast<double>(exposed),
                   .unit = "ns",
                   .table = "gpu_op",
                   .rows = IdsOf(groups, same, "gpu_op_id")});
  }
  return all;
}

std::vector<Recommendation> Recommend(Tables& tables, const CollectiveGroupsRows& groups, const Small& small) {
  const auto events = tables.Get<HostEventsRows>();
  bool ddp = false;
  for (size_t row = 0; row < events.rows(); ++row) ddp |= events.Text(row, "kind") == "ddp";
  const std::string_view kind = small.rows.empty() ? "" : groups.Text(small.rows[0], "kind");
  const std::string line = InLine(LineOfMade(tables.run(), "DistributedDataParallel"));
  std::vector<Recommendation> all;
  if (kind == "broadcast" && ddp)
    all.push_back(
        {StrCat("do not broadcast buffers in every forward pass, if no layer needs the same running statistics on all "
                "ranks",
                line),
         "", "DDP(model, broadcast_buffers=False)", "minutes"});
  if (kind == "all_reduce" && ddp)
    all.push_back({StrCat("reduce gradients in larger buckets", line), fixes::kDdpBucket.Item("50"),
                   "DDP(model, bucket_cap_mb=50)", "minutes"});
  all.push_back({StrCat("send one message instead of many: flatten or coalesce the ",
                        kind.empty() ? "collectives" : kind, " calls"),
                 "",
                 kind == "all_reduce" ? "flat = torch.cat([t.flatten() for t in tensors]); dist.all_reduce(flat)" : "",
                 "hours"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto groups = tables.Get<CollectiveGroupsRows>();
  const Small small = Read(groups);
  const double share = ledger.Share(small.exposed_ns);
  const double per_step =
      static_cast<double>(small.calls) / static_cast<double>(std::max<int64_t>(1, ledger.step_rows));
  if (share < kSmallCollectivesShare || per_step < kSmallCollectivesPerStep) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "exposed_communication";
  found.title = StrCat("small collectives that nothing hides take ", ledger.CostText(small.exposed_ns));
  found.description =
      StrCat("For ", FormatPercent(share), " of the time nothing runs but collectives of less than 256 KiB, ",
             FormatCount(std::llround(per_step)), ledger.step_rows > 0 ? " in every step" : " in the recording",
             ": each takes about as long as its latency, however little it carries.");
  found.evidence = EvidenceOf(groups, small);
  found.recommendations = Recommend(tables, groups, small);
  const auto exposed = static_cast<double>(small.exposed_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = exposed * 0.25,
                             .expected_ns = exposed * 0.6,
                             .high_ns = exposed * 0.9,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(small_collectives) = {.id = "small_collectives",
                           .type = BottleneckType::kMultiGpuComm,
                           .title = "Many collectives carry small messages",
                           .why =
                               "Exposed time of collectives whose message is below 256 KiB, known waiting for other "
                               "ranks left out. NCCL's bandwidth grows with size up to about a megabyte; below a "
                               "quarter of that the time hardly depends on it. Reported at 2 % of the analysed time or "
                               "more, with ten such calls a step or more. Not reported where sizes were not recorded.",
                           .saves = "¼, 6/10, 9/10 of it. Part of exposed_communication",
                           .needs = kNeeds,
                           .check = Check};

}  // namespace gapless::internal::small_collectives_rule
