// SPDX-License-Identifier: Apache-2.0
// The program asks to wait for the device, and then the device waits for the program.
//
// A wait costs little while the device works; it costs when it is over: nothing is queued, and the device idles until
// the host has launched again. The affected time is the idle gaps, without data loading, that began during a
// synchronise call outside of operators (analysis syncs). Each wait counts at most its own length. The gain: without
// the wait the host runs ahead and the whole gap can go (high), as far as the host is fast enough; what it spends
// launching stays when it is not. We expect half and at least a quarter.
#include <span>

#include "analyses/rows/kernels.h"
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

namespace gapless::internal::explicit_sync_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "syncs", "kernels"};
constexpr double kWaitsPerKernel = 0.5;  // a wait behind every second kernel is a habit of the program

Recommendation AdviceFor(const SyncPlace& place) {
  const std::string line = InLine(place.line);
  if (place.kind == "event")
    return {StrCat("let a stream wait instead of the host: stream.wait_event(event) in place of ", place.call, line),
            fixes::kSync.Item(), "torch.cuda.current_stream().wait_event(event)", "minutes"};
  if (place.kind == "stream")
    return {StrCat("take the stream's synchronize() out of the loop, or let another stream wait for that stream: ",
                   place.call, line),
            fixes::kSync.Item(), "torch.cuda.current_stream().wait_stream(stream)", "minutes"};
  return {StrCat("take torch.cuda.synchronize() out of the loop; to time steps, record events and read them "
                 "once at the end",
                 line),
          fixes::kSync.Item(), "start.record(); ...; end.record()  # after the loop: start.elapsed_time(end)",
          "minutes"};
}

Recommendation AdviceToProgram(const SyncPlace& place) {
  if (place.kind == "event")
    return {StrCat("let a stream wait instead of the host, in place of ", place.call), "",
            "cudaStreamWaitEvent(stream, event, 0);", "minutes"};
  if (place.kind == "implicit")
    return {StrCat("copy without waiting, from and to pinned memory, in place of ", place.call, "()"), "",
            "cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, stream);  // p of cudaMallocHost", "hours"};
  return {StrCat("take ", place.call,
                 "() out of the loop: work of one stream runs in order without it; wait once, before the host reads "
                 "results. To time kernels, record events and read them at the end"),
          "", "cudaEventRecord(start, stream); kernel<<<…>>>(…); cudaEventRecord(stop, stream);", "minutes"};
}

// "; 401 waits for 500 kernels", where the program waits behind about every one.
std::string WaitsText(const SyncPlaces& waits, const KernelsRows& kernels) {
  int64_t calls = 0, launched = 0;
  for (const SyncPlace& place : waits.places) calls += place.calls;
  for (size_t row = 0; row < kernels.rows(); ++row) launched += kernels.Int(row, "calls");
  if (launched < 2 || static_cast<double>(calls) < kWaitsPerKernel * static_cast<double>(launched)) return "";
  return StrCat("; ", FormatCounted(calls, "wait"), " for ", FormatCounted(launched, "kernel"));
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto syncs = tables.Get<SyncsRows>();
  const SyncPlaces waits = CollectSyncPlaces(syncs, ledger, Waits::kExplicit);
  const int64_t stake = std::min(waits.idle_ns, ledger.total.idle_ns - ledger.total.idle_data_ns);
  const double share = ledger.Share(stake);
  if (share < kSyncOwnShare || SyncShare(syncs, ledger) < kSynchronizationShare) return std::vector<Bottleneck>{};
  const auto worst = std::span(waits.places).first(std::min<size_t>(3, waits.places.size()));
  const bool program = !UsesPyTorch(tables.run());
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("synchronize calls leave the GPU idle for ", ledger.CostText(stake));
  found.description =
      StrCat("For ", FormatPercent(share), " of the time the GPU is idle because the program called ", worst[0].call,
             InLine(worst[0].line), " and had no work queued when the call returned", ledger.WorstText(waits.by_device),
             program ? WaitsText(waits, tables.Get<KernelsRows>()) : "", ".");
  for (const SyncPlace& sync_place : worst)
    if (sync_place.idle_ns > 0) found.evidence.push_back(EvidenceOf(sync_place, ledger));
  found.recommendations.push_back(program ? AdviceToProgram(worst[0]) : AdviceFor(worst[0]));
  const auto waste = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = waste * 0.25,
                             .expected_ns = waste * 0.5,
                             .high_ns = waste,
                             .confidence = 0.5});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(explicit_sync) = {
    .id = "explicit_sync",
    .type = BottleneckType::kCpuGpuSync,
    .title = "Synchronize calls leave the GPU without work",
    .why =
        "Idle gaps of the GPU, without data loading, that began while the host was in a synchronise call outside of "
        "operators (torch.cuda.synchronize, stream and event synchronize). Each wait counts at most its own length. "
        "nsys lists every such call; this rule reports them if waits of all kinds cost 5 % of the analysed time and "
        "these waits 2 %. Names the calls, their number per step, and the line.",
    .saves = "¼, ½, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::explicit_sync_rule
