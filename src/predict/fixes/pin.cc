// SPDX-License-Identifier: Apache-2.0
// Copies from and to pageable memory use pinned memory: they run at the link's speed, and the host goes on meanwhile.
//
// Model. A copy of at least 64 KiB takes its bytes at the speed of pinned copies (common/copies.h says which); one that
// is as fast already keeps its time. Copies to the device on a stream that also computes no longer block their call,
// nor does the wait for the stream that PyTorch puts behind them in the same operator: the stream keeps the order.
// If a copy has a stream of its own, that wait may be what keeps the order between streams, so that it goes only in the
// best case. A copy to the host is there for a value: its wait goes only in the best case, too.
#include <vector>

#include "predict/fix.h"
#include "predict/fixes/common/copies.h"

namespace gapless::internal::pin_fix {
namespace {

struct Pageable {
  std::vector<double> factor{};    // factor on the time of each operation
  std::vector<uint8_t> frees{};    // 1 for each operation whose call no longer waits
  std::vector<uint8_t> inside{};   // 1 for each operator of those copies, whose waits for the stream go, too
  size_t copies = 0, unknown = 0;  // number of those, and of copies whose kind of memory was not recorded
  bool is_recorded = false;        // the speed of pinned copies was
  std::string link{};              // the source of their speed otherwise
};

// A copy between host and device that is large enough to matter, of which the recorder does not say what memory of the
// host it used.
bool IsOfUnknownMemory(const GpuOpTable& ops, uint32_t op) {
  const CopyKind kind = ops.copy_kind[op];
  const bool large = ops.bytes[op] == kAbsent || ops.bytes[op] >= kMinStagedBytes;
  return (kind == CopyKind::kHtoD || kind == CopyKind::kDtoH) && large;
}

double SpeedFactor(const GpuOpTable& ops, uint32_t op, const PinnedRates& rates, Estimate estimate, bool& is_recorded) {
  if (ops.bytes[op] == kAbsent) return ValueFor(estimate, 0.8, 0.5, 0.3);
  if (ops.bytes[op] < kMinStagedBytes || ops.dur_ns[op] <= 0) return 1;
  const double gbps = static_cast<double>(ops.bytes[op]) / static_cast<double>(ops.dur_ns[op]);
  const PinnedRate rate = rates.Of(IsHostToDevice(ops.copy_kind[op]), gbps);
  is_recorded = is_recorded || rate.is_recorded;
  return std::min(1.0, gbps / ValueFor(estimate, rate.little, rate.expected, rate.much));
}

Pageable FindPageable(const Trace& trace, Estimate estimate) {
  const GpuOpTable& ops = trace.gpu_ops;
  const PinnedRates rates(trace);
  const auto computing = ComputingStreams(trace);
  Pageable found{.factor = std::vector<double>(ops.size(), 1),
                 .frees = std::vector<uint8_t>(ops.size()),
                 .inside = std::vector<uint8_t>(trace.slices.size())};
  for (uint32_t op = 0; op < ops.size(); ++op) {
    if (IsOfUnknownMemory(ops, op)) ++found.unknown;
    if (IsPageable(ops.copy_kind[op]) != true) continue;
    ++found.copies;
    found.factor[op] = SpeedFactor(ops, op, rates, estimate, found.is_recorded);
    found.link = rates.Source();
    const bool ordered = IsHostToDevice(ops.copy_kind[op]) && computing.contains({ops.device[op], ops.stream[op]});
    found.frees[op] = ordered || estimate == Estimate::kOptimistic ? 1 : 0;
    const SliceId launch = ops.launch[op];
    const SliceId around = launch.valid() ? trace.slices.parent[launch.value] : SliceId();
    if (found.frees[op] != 0 && IsHostToDevice(ops.copy_kind[op]) && around.valid()) found.inside[around.value] = 1;
  }
  return found;
}

void FreeHost(const Trace& trace, const Pageable& found, EdgeTimes& times) {
  std::vector<uint8_t> calls(trace.slices.size());
  for (uint32_t op = 0; op < found.frees.size(); ++op)
    if (found.frees[op] != 0 && trace.gpu_ops.launch[op].valid()) calls[trace.gpu_ops.launch[op].value] = 1;
  for (uint32_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId around = trace.slices.parent[row];
    const bool is_operator = around.valid() && trace.slices.category[around.value] == SliceCategory::kOperator;
    if (trace.slices.api[row] == ApiKind::kStreamSync && is_operator && found.inside[around.value] != 0) calls[row] = 1;
  }
  times.DropWaits(EdgeKind::kSync, [&](uint32_t slice) { return calls[slice] != 0; });
  times.DropWaits(EdgeKind::kFeed, [&](uint32_t op) { return found.frees[op] != 0; });
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Pageable found = FindPageable(input.trace(), estimate);
  WhatIfEffect effect;
  if (found.copies == 0 && found.unknown > 0)
    effect.refusal = "whether copies come from pageable memory or go there was not recorded";
  else if (found.copies == 0)
    effect.no_effect = "no copy from or to pageable memory was recorded";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  times.ScaleOps([&](uint32_t op) { return found.factor[op]; });
  FreeHost(input.trace(), found, times);
  effect.assumptions.emplace_back("the copies are asked for with non_blocking=True");
  if (!found.is_recorded) effect.assumptions.emplace_back(found.link);
  return effect;
}

FixValues Values(const FixContext& context) {
  if (!context.gpu) return NoneBecause("nothing is copied to a GPU");
  return {.values = {""}};
}

constexpr std::string_view kCures[] = {"pageable_copies"};

}  // namespace

FIX(pin) = {
    .name = "pin",
    .help = "Copy batches from pinned memory, beside the host",
    .safety = Safety::kExact,
    .model = {.why =
                  "Copies from and to pageable memory run at the speed of the recording's own pinned copies, or, "
                  "without any, at six tenths (three tenths to all) of what 16 lanes of the device's PCIe generation "
                  "can be used for, and at least 1.25 times as fast as they were; of a device that is not known 2.5 "
                  "times (1.25 to 5). Copies to the device no longer block the host; the host still waits for "
                  "values that it fetches.",
              .apply = Apply},
    .trial = {
        .why = "Where copies to the GPU come from pageable memory: these go through a buffer of the driver and block "
               "the host. DataLoader gets pin_memory=True, and copies from pinned memory to a GPU become non_blocking; "
               "copies from the GPU stay as they are. Pinned memory cannot be swapped out. The gain is at most the "
               "time of the copies; small unless they are visible in a step (PyTorch's performance tuning guide).",
        .effort = Effort::kQuick,
        .choice = {.order = 44, .cures = kCures},
        .needs = {.loader = true},
        .values = Values}};

}  // namespace gapless::internal::pin_fix
