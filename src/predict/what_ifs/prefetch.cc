// SPDX-License-Identifier: Apache-2.0
// Batches are copied to the device on a stream of their own, while the batch before is computed.
//
// What changes. A copy no longer stands between the kernels of its stream, and no call waits for it: it is under way in
// the step before. The graph keeps the copy in its place, since the order of the kernels around it hangs on it, and
// lets it take no time. A copy that takes longer than a whole step could not be hidden; then what exceeds a step stays.
//
// Prior. The copy engine works beside the multiprocessors, and both share the memory: the link brings 12 to 64 GB/s of
// the memory's 900 and more. So a tenth of the copy's time is counted, and half of it in the cautious case, where the
// wait between the streams is in the way.
#include <algorithm>
#include <map>

#include "predict/what_if.h"
#include "predict/what_ifs/common/edits.h"

namespace gapless::internal {
namespace {

bool IsToDevice(CopyKind kind) {
  return kind == CopyKind::kHtoD || kind == CopyKind::kHtoDPinned || kind == CopyKind::kHtoDPageable;
}

struct Copies {
  std::vector<uint8_t> is_one{}, launches{};  // by operation: beside kernels of its stream; by slice: its call
  size_t all = 0, beside = 0, pageable = 0;
  int64_t ns = 0;
};

Copies FindCopies(const Trace& trace) {
  const GpuOpTable& ops = trace.gpu_ops;
  std::map<std::pair<int32_t, int64_t>, bool> computes;  // by device and stream
  for (size_t op = 0; op < ops.size(); ++op)
    if (ops.kind[op] == GpuOpKind::kKernel) computes[{ops.device[op], ops.stream[op]}] = true;
  Copies copies{.is_one = std::vector<uint8_t>(ops.size()), .launches = std::vector<uint8_t>(trace.slices.size())};
  for (size_t op = 0; op < ops.size(); ++op) {
    if (!IsToDevice(ops.copy_kind[op])) continue;
    ++copies.all;
    if (!computes.contains({ops.device[op], ops.stream[op]})) continue;
    copies.is_one[op] = 1;
    copies.pageable += ops.copy_kind[op] == CopyKind::kHtoDPageable ? 1 : 0;
    if (ops.launch[op].valid()) copies.launches[ops.launch[op].value] = 1;
    ++copies.beside, copies.ns += ops.dur_ns[op];
  }
  return copies;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Case which, EdgeTimes& times) {
  const Copies copies = FindCopies(input.trace());
  WhatIfEffect effect;
  if (copies.all == 0)
    effect.nothing = "no copy to the device was recorded";
  else if (copies.beside == 0)
    effect.nothing = "copies to the device have a stream of their own already";
  if (!effect.nothing.empty()) return effect;
  const auto all = static_cast<double>(std::max<int64_t>(1, copies.ns)),
             wall = static_cast<double>(AnalysedWindow(input.trace()).span.length());
  const double exceeds = std::max(0.0, 1 - wall / all);
  const double left = std::max(exceeds, Pick(which, 0.5, 0.1, 0));
  times.ScaleOps([&](uint32_t op) { return copies.is_one[op] != 0 ? left : 1.0; });
  times.DropWaits(EdgeKind::kSync, [&](uint32_t slice) { return copies.launches[slice] != 0; });
  effect.assumptions.emplace_back("the next batch is there while this one is computed: loading is fast enough");
  if (copies.pageable > 0) effect.assumptions.emplace_back("the copies come from pinned memory, and do not block");
  return effect;
}

}  // namespace

WHATIF(prefetch) = {.name = "prefetch",
                    .help = "Batches are copied beside the computation of the last",
                    .why =
                        "Copies of batches leave the stream of the kernels: a tenth (0 to 50 %) of their time is "
                        "left for what they take from the memory.",
                    .safety = Safety::kExact,
                    .apply = Apply};

}  // namespace gapless::internal
