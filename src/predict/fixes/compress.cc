// SPDX-License-Identifier: Apache-2.0
// Gradients are exchanged in bf16 (DDP's bf16_compress_hook): half the bytes, and casts before and after.
//
// Model. An exchange takes latency + bytes on the bus × time per byte (common/collectives.h); half of the second part
// goes. Casting reads 4 and writes 2 bytes for each gradient, and the other way round afterwards: 12 bytes against the
// 4 that were sent, at the memory's speed. What a rank waits for others stays.
//
// Prior. Halving bytes halves the time on the link; smaller messages reach less of its speed (nccl-tests' curves), so
// the cautious case counts three quarters of that, and the casts twice. In the best case they are fused into the copies
// into buckets, which are there anyway. Casts at 70 % of the memory's peak.
#include <algorithm>
#include <cmath>

#include "analyses/device_peaks.h"
#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"
#include "predict/fixes/common/edits.h"

namespace gapless::internal::compress_fix {
namespace {

constexpr double kCastBytes = 3;                     // moved for each byte of the gradients, by both casts
constexpr double kOfPeak = 0.7, kUsualGbps = 0.7e3;  // where the device is not in the table

double MemoryGbps(const Trace& trace) {
  for (size_t row = 0; row < trace.devices.size(); ++row)
    if (const DevicePeaks* peaks = FindDevicePeaks(trace.Text(trace.devices.name[row]));
        peaks != nullptr && peaks->memory_gbps > 0)
      return kOfPeak * peaks->memory_gbps;
  return kUsualGbps;
}

bool IsHalf(std::string_view type) {
  for (const std::string_view half : {"half", "bfloat16", "float16", "float8"})
    if (ContainsIgnoreCase(type, half)) return true;
  return false;
}

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Estimate estimate, EdgeTimes& times) {
  const Trace& trace = input.trace();
  const Collectives collectives = FindCollectives(input);
  std::vector<Collective> gradients = collectives.Gradients();
  ExchangeText text = CheckGradients(collectives, gradients, true);
  const bool any = !gradients.empty();
  std::erase_if(gradients, [&](const Collective& collective) {
    return IsHalf(trace.Text(trace.collectives.dtype[collective.row]));
  });
  if (any && gradients.empty() && text.refusal.empty())
    text.no_effect = "gradients are exchanged in half the bytes already";
  WhatIfEffect effect{.refusal = std::move(text.refusal), .no_effect = std::move(text.no_effect)};
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const double gbps = MemoryGbps(trace);
  std::vector<int64_t> ns(trace.gpu_ops.size(), kAbsent);
  for (const Collective& collective : gradients) {
    const double on_link = std::max(0.0, static_cast<double>(collective.wire_ns) - collectives.link.latency_ns);
    const double saved = ValueFor(estimate, 0.75, 1, 1) * on_link / 2;
    const double casts = ValueFor(estimate, 2, 1, 0) * kCastBytes * static_cast<double>(collective.bytes) / gbps;
    ns[collective.op] = std::llround(static_cast<double>(OpNs(times, collective.op)) - saved + casts);
  }
  SetOps(times, ns);
  if (std::string of = AssumptionOfGradients(collectives); !of.empty()) effect.assumptions.push_back(std::move(of));
  effect.assumptions.emplace_back("training bears gradients of 8 bits of mantissa");
  return effect;
}

}  // namespace

FIX(compress) = {
    .name = "compress",
    .help = "Exchange gradients in bf16: half the bytes",
    .safety = Safety::kTraining,
    .model = {.why = "Half the bytes of each exchange of gradients, by the latency and the speed fitted to the "
                     "recording's own collectives; casts move 12 bytes a gradient at 70 % of the memory's peak.",
              .apply = Apply}};

}  // namespace gapless::internal::compress_fix
