// SPDX-License-Identifier: Apache-2.0
// DistributedDataParallel broadcasts the model's buffers in every forward pass, and the device waits for the host to
// pack and unpack them.
//
// Before each forward pass of a model with buffers (running means of batch norms), rank 0's are copied to all others:
// flattened into one tensor, sent, and unflattened, a view and a copy per buffer. The sending is short, the packing is
// hundreds of operators on the host. The gain: with broadcast_buffers=False none of it is left (high: all of the idle
// time meanwhile; expected nine tenths); where work of the last step is still queued, the host gets less far ahead by
// it: at least half. These shares are assumptions.
//
// Packing that takes long and launches nothing is host work in the ledger, other packing is launching: the finding is
// part of the rule that claims the larger half.
#include <algorithm>

#include "analyses/rows/host_events.h"
#include "analyses/rows/host_time.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_event_view.h"
#include "diagnose/made_lines.h"
#include "diagnose/rule.h"

namespace gapless::internal::ddp_buffers_rule {
namespace {

// Ours: as for other host work that a flag turns off, such as garbage collection.
constexpr double kDdpBuffersShare = 0.03;

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "host_time"};
constexpr std::string_view kKinds[] = {"ddp_buffers"};

// Returns the part of the events' idle time that the time breakdown attributes to host code without launches.
int64_t HostTimeOf(const HostEventsRows& events, const HostEventSum& sum, const HostTimeRows& host) {
  int64_t ns = 0;
  for (size_t row = 0; row < host.rows(); ++row) {
    const auto same = [&](size_t event) { return events.Text(event, "name") == host.Text(row, "name"); };
    if (host.Int(row, "while_launching") == 0 && std::any_of(sum.rows.begin(), sum.rows.end(), same))
      ns += host.Int(row, "idle_ns");
  }
  return ns;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kKinds);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kDdpBuffersShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = 2 * HostTimeOf(events, sum, tables.Get<HostTimeRows>()) > sum.idle_ns ? "host_bound" : "launch_bound";
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.idle_ns), " while DDP broadcasts buffers");
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the GPU is idle while the host packs the model's buffers into flat tensors "
                             "and back: DistributedDataParallel broadcasts them in every forward pass.");
  found.evidence = EventEvidence(events, sum.rows);
  const std::string line = InLine(LineOfMade(tables.run(), "DistributedDataParallel"));
  found.recommendations = {
      {StrCat("do not broadcast buffers: each rank then keeps the statistics of its own batches, and those of rank 0 "
              "are saved",
              line),
       "", "model = DDP(model, broadcast_buffers=False)", "minutes"},
      {StrCat(
           "or, where batches are small, normalise over all ranks: the statistics are then equal without a broadcast",
           line),
       "", "model = DDP(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model), broadcast_buffers=False)", "minutes"}};
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.9, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(ddp_buffers) = {
    .id = "ddp_buffers",
    .type = BottleneckType::kMultiGpuComm,
    .title = "DDP broadcasts buffers in every forward pass",
    .why =
        "Idle time of the GPU while aten::flatten_dense_tensors or aten::unflatten_dense_tensors runs "
        "inside DistributedDataParallel.forward, which packs the buffers of the model (running "
        "statistics of batch norms) to broadcast them from rank 0. Reported at 3 % of the analysed "
        "time or more: a flag turns it off. Sending itself is part of exposed_communication.",
    .saves = "½, 9/10, all of it. Part of host_bound where that claims more than half of it, else of launch_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::ddp_buffers_rule
