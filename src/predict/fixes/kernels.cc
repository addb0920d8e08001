// SPDX-License-Identifier: Apache-2.0
// Kernels that take K times as long: all, or those whose name matches. For experts, and to ask what a kernel is worth.
#include "base/pattern.h"
#include "base/strings.h"
#include "predict/fix.h"

namespace gapless::internal::kernels_fix {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate /*estimate*/, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto factor, item.Factor());
  const Trace& trace = input.trace();
  std::vector<uint8_t> chosen(trace.strings.size(), item.selector.empty() ? 1 : 0);
  if (!item.selector.empty()) {
    GAPLESS_ASSIGN(const auto pattern, Pattern::Make(item.selector, "kernels:"));
    for (size_t id = 0; id < chosen.size(); ++id)
      chosen[id] = pattern.IsIn(trace.strings[static_cast<StringId>(id)]) ? 1 : 0;
  }
  size_t count = 0;
  const GpuOpTable& ops = trace.gpu_ops;
  times.ScaleOps([&](uint32_t op) {
    const bool hit = ops.kind[op] == GpuOpKind::kKernel && chosen[static_cast<uint32_t>(ops.name[op])] != 0;
    count += hit ? 1 : 0;
    return hit ? factor : 1.0;
  });
  WhatIfEffect effect;
  if (count == 0)
    effect.refusal = item.selector.empty() ? "no kernel was recorded"
                                           : StrCat("no kernel has a name like '", Printable(item.selector), "'");
  return effect;
}

}  // namespace

FIX(kernels) = {.name = "kernels",
                .help = "Scale the time of kernels by K, or of kernels:REGEX alone",
                .safety = Safety::kHardware,
                .model = {.value = "K",
                          .why = "Kernels take K times as long, all or those whose name the expression matches. A "
                                 "question about the machine: nothing is assumed.",
                          .apply = Apply}};

}  // namespace gapless::internal::kernels_fix
