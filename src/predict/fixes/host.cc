// SPDX-License-Identifier: Apache-2.0
// Host work that takes K times as long: a faster processor, or less Python.
#include "predict/fix.h"

namespace gapless::internal::host_fix {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& /*input*/, const WhatIfItem& item, Estimate /*estimate*/,
                           EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto factor, item.Factor());
  times.ScaleHost([&](uint32_t) { return factor; });
  return WhatIfEffect();
}

}  // namespace

FIX(host) = {.name = "host",
             .help = "Scale the time of all host work by K",
             .safety = Safety::kHardware,
             .model = {.value = "K",
                       .why = "Every stretch of host work, and every call without what it waits for, takes K times as "
                              "long. A question about the machine: nothing is assumed.",
                       .apply = Apply}};

}  // namespace gapless::internal::host_fix
