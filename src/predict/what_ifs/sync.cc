// SPDX-License-Identifier: Apache-2.0
// Calls that make the host wait for the device are taken away: torch.cuda.synchronize(), .item(), .cpu().
//
// A call of the program's own (device, stream, event) is there for nobody: it goes in any case. A copy to the host that
// waits is there for a value; whether the program can do without it until the step is over cannot be seen, so that the
// cautious case keeps it.
#include "base/strings.h"
#include "predict/what_if.h"

namespace gapless::internal {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& /*item*/, Case which, EdgeTimes& times) {
  const SliceTable& slices = input.trace().slices;
  size_t calls = 0, copies = 0;
  times.DropWaits(EdgeKind::kSync, [&](uint32_t slice) {
    const ApiKind api = slices.api[slice];
    const bool call = api == ApiKind::kDeviceSync || api == ApiKind::kStreamSync || api == ApiKind::kEventSync;
    calls += call ? 1 : 0;
    copies += call ? 0 : 1;
    return call || which != Case::kLittle;
  });
  WhatIfEffect effect;
  if (calls + copies == 0) effect.nothing = "no call waits for the device";
  if (copies > 0)
    effect.assumptions.push_back(StrCat(copies, " waits for a value on the host can be put off until after the step"));
  return effect;
}

}  // namespace

WHATIF(sync) = {.name = "sync",
                .help = "The host no longer waits for the device within a step",
                .why =
                    "Calls that wait for the device no longer do. Those that fetch a value stay in the cautious"
                    " case, as the program may need it.",
                .safety = Safety::kExact,
                .apply = Apply};

}  // namespace gapless::internal
