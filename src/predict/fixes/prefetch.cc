// SPDX-License-Identifier: Apache-2.0
// Batches are copied to the device on a stream of their own, while the batch before is computed.
//
// Model. A copy no longer stands between the kernels of its stream, and no call waits for it: it is under way in the
// step before. The graph keeps the copy in its place, since the order of the kernels around it hangs on it, and lets it
// take no time. A copy can hide only behind kernels: what exceeds the time in which kernels run and no copy does,
// stays. A copy from pageable memory blocks its call until it is over, on whatever stream it is, and can hide behind
// nothing; it counts only when `pin` comes before this item.
//
// Prior. The copy engine works beside the multiprocessors, and both share the memory: the link brings 12 to 64 GB/s of
// the memory's 900 and more. So a tenth of the copy's time is counted, and half of it in the cautious case, where the
// wait between the streams is in the way.
#include <algorithm>

#include "analyses/intervals.h"
#include "analyses/window.h"
#include "predict/fix.h"
#include "predict/fixes/common/copies.h"

namespace gapless::internal::prefetch_fix {
namespace {

constexpr double kMinHidden = 0.01;  // share of the copies' time; kernels as short as that hide nothing

struct Copies {
  std::vector<uint8_t> is_one{}, launches{};  // by operation: can hide; by slice: its call
  size_t all = 0, beside = 0, blocking = 0;
  double hidden = 0;  // share of the copies' time for which kernels run outside of copies
};

Copies FindCopies(const Trace& trace, const EdgeTimes& times) {
  const GpuOpTable& ops = trace.gpu_ops;
  const auto computing = ComputingStreams(trace);
  Copies copies{.is_one = std::vector<uint8_t>(ops.size()), .launches = std::vector<uint8_t>(trace.slices.size())};
  Intervals kernels, copied;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const Interval span{ops.ts_ns[op], ops.ts_ns[op] + ops.dur_ns[op]};
    if (ops.kind[op] == GpuOpKind::kKernel) AppendMerged(kernels, span);
    if (!IsHostToDevice(ops.copy_kind[op]) || MovesOnDemand(ops.copy_kind[op])) continue;
    ++copies.all;
    if (!computing.contains({ops.device[op], ops.stream[op]})) continue;
    ++copies.beside;
    if (IsPageable(ops.copy_kind[op]) == true && BlocksHost(trace, times, op)) {
      ++copies.blocking;
      continue;
    }
    copies.is_one[op] = 1;
    AppendMerged(copied, span);
    if (ops.launch[op].valid()) copies.launches[ops.launch[op].value] = 1;
  }
  const Interval window = AnalysedWindow(trace).span;
  copied = Clip(copied, window);
  if (const int64_t all_ns = Total(copied); all_ns > 0)
    copies.hidden = static_cast<double>(Total(Clip(Subtract(kernels, copied), window))) / static_cast<double>(all_ns);
  return copies;
}

std::string NothingToHide(const Copies& copies) {
  if (copies.all == 0) return "no copy to the device was recorded";
  if (copies.beside == 0) return "copies to the device have a stream of their own already";
  if (copies.blocking == copies.beside)
    return "copies from pageable memory block the host until they are over, on any stream: pin the memory first";
  if (copies.hidden < kMinHidden) return "there are no kernels that a copy could be under way beside";
  return {};
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Copies copies = FindCopies(input.trace(), times);
  WhatIfEffect effect;
  effect.no_effect = NothingToHide(copies);
  if (!effect.no_effect.empty()) return effect;
  const double left = std::max(1 - copies.hidden, ValueFor(estimate, 0.5, 0.1, 0));
  times.ScaleOps([&](uint32_t op) { return copies.is_one[op] != 0 ? left : 1.0; });
  times.DropWaits(EdgeKind::kSync, [&](uint32_t slice) { return copies.launches[slice] != 0; });
  times.DropWaits(EdgeKind::kFeed, [&](uint32_t op) { return copies.is_one[op] != 0; });
  effect.assumptions.emplace_back("the next batch is there while this one is computed: loading is fast enough");
  return effect;
}

}  // namespace

FIX(prefetch) = {
    .name = "prefetch",
    .help = "Copy batches while the GPU computes the last one",
    .safety = Safety::kExact,
    .model = {.why = "Copies of batches leave the stream of the kernels, as far as there are kernels beside which they "
                     "can be under way: a tenth (0 to 50 %) of their time is left for what they take from the memory. "
                     "Copies from pageable memory cannot be hidden unless they are pinned first.",
              .apply = Apply}};

}  // namespace gapless::internal::prefetch_fix
