// SPDX-License-Identifier: Apache-2.0
// An operator waits for the device (.item(), nonzero, a copy to the host), and then the device waits for the host. As
// for explicit_sync, the cost is the idle time, without data loading, that begins during the wait. Each wait counts at
// most its own length. What a copy call itself takes to move its bytes is left to pageable_copies. The gain: without
// the wait the host runs ahead and the whole gap can go (high), as far as the host is fast enough and the value is not
// needed to go on; what it spends launching stays. We expect half and at least a quarter.
#include <algorithm>
#include <span>

#include "analyses/rows/syncs.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/sync_places.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::implicit_sync_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "syncs"};

bool IsCopy(std::string_view operator_name) {
  return operator_name == "aten::to" || operator_name == "aten::cuda" || operator_name == "aten::cpu" ||
         operator_name.find("copy_") != operator_name.npos || operator_name.find("_to_copy") != operator_name.npos;
}

Recommendation AdviceFor(const SyncPlace& place) {
  const std::string line = InLine(place.line);
  const auto is = [&](std::string_view part) { return place.op.find(part) != place.op.npos; };
  if (is("is_nonzero") || is("equal"))
    return {StrCat("decide without reading the tensor: keep the condition on the host, or compute both and select; ",
                   place.op, " waits for all work queued before it", line),
            fixes::kSync.Item(), "x = torch.where(condition, a, b)  # instead of: if condition:", "hours"};
  if (is("item") || is("_local_scalar_dense"))
    return {StrCat("read the value every N steps, or keep it on the GPU: ", place.op,
                   " waits for all work queued before it", line),
            fixes::kSync.Item(), "if step % 100 == 0: log(loss.item())", "minutes"};
  if (is("nonzero") || is("index") || is("masked") || is("unique") || is("repeat_interleave"))
    return {StrCat("avoid shapes that depend on values: ", place.op, " waits to know the size of its result", line),
            fixes::kSync.Item(), "torch.where(mask, x, 0)  # instead of: x[mask]", "hours"};
  if (IsCopy(place.op) || place.kind == "implicit")
    return {
        StrCat(
            "copy without waiting: use pinned memory and non_blocking=True, and copy results to the host all at once",
            line),
        fixes::kPin.Item(), "batch = batch.pin_memory().to(device, non_blocking=True)", "minutes"};
  return {StrCat("do not wait for the GPU in each step: ", place.Name(), line), fixes::kSync.Item(), "", "hours"};
}

// The same advice once, for the place that costs most.
std::vector<Recommendation> Recommend(std::span<const SyncPlace> worst) {
  std::vector<Recommendation> all;
  for (const SyncPlace& place : worst) {
    Recommendation one = AdviceFor(place);
    const auto same = [&](const Recommendation& other) { return other.fix == one.fix && other.code == one.code; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
  }
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto syncs = tables.Get<SyncsRows>();
  const SyncPlaces waits = CollectSyncPlaces(syncs, ledger, Waits::kImplicit);
  const int64_t stake = std::min(waits.idle_ns, ledger.total.idle_ns - ledger.total.idle_data_ns);
  const double share = ledger.Share(stake);
  if (share < kSyncOwnShare || SyncShare(syncs, ledger) < kSynchronizationShare) return std::vector<Bottleneck>{};
  std::vector<SyncPlace> worst;
  for (const SyncPlace& sync_place : waits.places)
    if (sync_place.idle_ns > 0 && worst.size() < 3) worst.push_back(sync_place);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("operators that wait for the GPU leave it idle for ", ledger.CostText(stake));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the GPU is idle because an operator waited for the GPU and the host had "
                             "queued nothing more; most of it after ",
                             worst[0].Name(), InLine(worst[0].line), ledger.WorstText(waits.by_device), ".");
  for (const SyncPlace& sync_place : worst) found.evidence.push_back(EvidenceOf(sync_place, ledger));
  found.recommendations = Recommend(worst);
  if (!UsesPyTorch(tables.run()))
    found.recommendations = {
        {StrCat("copy without waiting, from and to pinned memory, and wait once, before the host reads results: ",
                worst[0].Name()),
         "", "cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, stream);  // p of cudaMallocHost", "hours"}};
  const auto waste = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.5,
                             .high_ns = waste,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(implicit_sync) = {.id = "implicit_sync",
                       .type = BottleneckType::kCpuGpuSync,
                       .title = "Operators that wait for the GPU leave it without work",
                       .why =
                           "Idle gaps of the GPU, without data loading, that began while an operator waited for the "
                           "GPU (.item(), nonzero, indexing with a mask, copies to the host, `if tensor:`). Each wait "
                           "counts at most its own length. Reported if waits of all kinds cost 5 % of the analysed "
                           "time and these waits 2 %. Names the operators, their calls per step, and the line.",
                       .saves = "¼, ½, all of it",
                       .needs = kNeeds,
                       .check = Check};

}  // namespace gapless::internal::implicit_sync_rule
