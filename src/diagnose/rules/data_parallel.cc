// SPDX-License-Identifier: Apache-2.0
// One process drives several devices through torch.nn.DataParallel.
//
// In every step it copies the model to all devices, scatters the batch, gathers outputs on the first device, and
// launches for all of them from threads that share Python's lock. The affected time is that in which the process's
// devices wait for launches and the host, or only copy or communicate. The gain: with a process per device most of it
// goes (high nine tenths, expected half, at least a quarter); assumptions, PyTorch's documentation gives no figure.
#include <algorithm>

#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_event_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::data_parallel_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_events"};

struct Stake {
  int64_t idle_ns = 0;    // for launches and the host
  int64_t moving_ns = 0;  // only copying or communicating
  int64_t devices = 0;
  std::vector<size_t> rows;  // rows of host_events, in processes with more than one device
};

Stake Read(const HostEventsRows& events, const LedgerView& ledger) {
  Stake stake;
  std::vector<int64_t> traces;
  for (size_t row = 0; row < events.rows(); ++row) {
    const int64_t trace = events.Int(row, "trace");
    if (events.Text(row, "kind") != "data_parallel" || ledger.DevicesOf(trace) < 2) continue;
    stake.rows.push_back(row);
    if (std::find(traces.begin(), traces.end(), trace) == traces.end()) traces.push_back(trace);
  }
  for (const DeviceBreakdown& device_breakdown : ledger.devices) {
    if (std::find(traces.begin(), traces.end(), device_breakdown.trace) == traces.end()) continue;
    ++stake.devices;
    stake.idle_ns += device_breakdown.idle_launch_ns + device_breakdown.idle_host_ns;
    stake.moving_ns += device_breakdown.exposed_copy_ns + device_breakdown.exposed_comm_ns;
  }
  return stake;
}

std::vector<Evidence> EvidenceOf(const HostEventsRows& events, const Stake& stake, const LedgerView& ledger) {
  std::vector<Evidence> all = EventEvidence(events, stake.rows, 1);
  const auto add = [&](std::string_view what, int64_t ns) {
    if (ns > 0)
      all.push_back({.text = StrCat(what, ledger.CostText(ns)),
                     .value = static_cast<double>(ns),
                     .unit = "ns",
                     .table = "ledger"});
  };
  add("idle, waiting for launches and the host: ", stake.idle_ns);
  add("only copying or communicating: ", stake.moving_ns);
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const Stake stake = Read(events, ledger);
  const int64_t at_stake_ns = stake.idle_ns + stake.moving_ns;
  const double share = ledger.Share(at_stake_ns);
  if (stake.rows.empty() || share < kExposedCommunicationShare) return std::vector<Bottleneck>{};
  const std::string line =
      MadeOr(LineOfMade(tables.run(), "DataParallel"), TextOr(events, stake.rows[0], "source_line", ""));
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "launch_bound";
  found.title = StrCat("DataParallel costs ", ledger.CostText(at_stake_ns), " on ", stake.devices, " GPUs");
  found.description =
      StrCat("One process drives ", stake.devices, " GPUs through torch.nn.DataParallel", InLine(line), "; for ",
             FormatPercent(share), " of their time these GPUs wait for its launches, or only copy or communicate.");
  found.evidence = EvidenceOf(events, stake, ledger);
  found.recommendations.push_back(
      {StrCat("use one process per GPU: DistributedDataParallel", InLine(line)), "",
       "model = torch.nn.parallel.DistributedDataParallel(model.to(local_rank), device_ids=[local_rank])\n"
       "torchrun --nproc-per-node=gpu train.py",
       "hours"});
  const auto waste = static_cast<double>(at_stake_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.5,
                             .high_ns = waste * 0.9,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(data_parallel) = {
    .id = "data_parallel",
    .type = BottleneckType::kMultiGpuComm,
    .title = "One process drives several GPUs through DataParallel",
    .why =
        "The annotation DataParallel.forward in a process that uses more than one GPU, as in the TensorBoard profiler "
        "plugin's rule. The affected time is that in which these GPUs idle for launches or the host, or only copy or "
        "communicate. Reported at 5 % of the analysed time or more.",
    .saves = "¼, ½, 9/10 of it. Part of launch_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::data_parallel_rule
