// SPDX-License-Identifier: Apache-2.0
// Collectives go through the host although the job has GPUs.
//
// gloo and mpi without device support copy to the host, reduce on cores and send over sockets. The gain: NCCL between
// devices of one host is ten to a hundred times faster, over a network five to twenty: nine tenths of the idle time may
// go (high); we expect half, since what is sent may be host data, and at least a quarter. These shares are assumptions.
#include <algorithm>

#include "analyses/rows/collective_groups.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::slow_backend_rule {
namespace {

// The TensorBoard plugin reports gloo at any cost; this rule fires at the share of other communication rules.
constexpr double kSlowBackendShare = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "collective_groups"};

struct OnHost {
  int64_t idle_ns = 0, calls = 0;
  std::string_view backend;
  std::vector<size_t> rows;
};

OnHost Read(const CollectiveGroupsRows& groups, const LedgerView& ledger) {
  OnHost host;
  for (const size_t row : LargestRows(groups, "idle_ns", groups.rows())) {
    const std::string_view backend = groups.Text(row, "backend");
    if (backend != "gloo" && backend != "mpi") continue;
    if (host.backend.empty()) host.backend = backend;
    host.idle_ns += groups.Int(row, "idle_ns") * ledger.DevicesOf(groups.Int(row, "trace"));
    host.calls += groups.Int(row, "calls");
    if (host.rows.size() < kMaxRows) host.rows.push_back(row);
  }
  return host;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto groups = tables.Get<CollectiveGroupsRows>();
  const OnHost host = Read(groups, ledger);
  const double share = ledger.Share(host.idle_ns);
  if (share < kSlowBackendShare) return std::vector<Bottleneck>{};
  const size_t most = host.rows[0];
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(host.idle_ns), " for ", host.backend, " on the host");
  found.description = StrCat("For ", FormatPercent(share), " of the time the GPU is idle while ",
                             FormatCounted(host.calls, "collective goes", "collectives go"), " through ", host.backend,
                             ", which moves and reduces the data on the host.");
  found.evidence.push_back({.text = StrCat(groups.Text(most, "kind"), " over ", groups.Text(most, "backend"), ": ",
                                           FormatCounted(groups.Int(most, "calls"), "call"), ", ",
                                           FormatDuration(groups.Int(most, "total_ns")), " in all"),
                            .value = static_cast<double>(groups.Int(most, "total_ns")),
                            .unit = "ns",
                            .table = "slice",
                            .rows = IdsOf(groups, host.rows, "slice_id")});
  found.recommendations.push_back(
      {"let the GPUs exchange data directly", "", "torch.distributed.init_process_group(\"nccl\")", "minutes"});
  const auto idle = static_cast<double>(host.idle_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = idle * 0.25,
                             .expected_ns = idle * 0.5,
                             .high_ns = idle * 0.9,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(slow_backend) = {
    .id = "slow_backend",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Collectives go through the host instead of NCCL",
    .why =
        "Idle time of the GPU while collectives of gloo or mpi run on the host. The TensorBoard profiler plugin "
        "advises NCCL whenever DistributedDataParallel runs without it. This rule reports them at 5 % of the analysed "
        "time or more, since small host-side groups beside NCCL are usual and cost nothing.",
    .saves = "¼, ½, 9/10 of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::slow_backend_rule
