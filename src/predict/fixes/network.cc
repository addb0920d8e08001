// SPDX-License-Identifier: Apache-2.0
// The network takes K times as long for a byte: 0.5 is one of twice the speed.
//
// Model. A collective takes latency + bytes on the bus × time per byte (common/collectives.h); the second part takes K
// times as long. What a rank waits for others stays.
//
// Prior. The two parts are fitted to the recording. The latency is the less certain one: from none to twice what was
// fitted.
#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "predict/fix.h"
#include "predict/fixes/common/collectives.h"

namespace gapless::internal::network_fix {
namespace {

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate, EdgeTimes& times) {
  GAPLESS_ASSIGN(const auto factor, item.Factor());
  const Collectives collectives = FindCollectives(input);
  WhatIfEffect effect;
  const auto is_known = [](const Collective& collective) { return collective.wire_ns != kAbsent; };
  if (collectives.all.empty() && collectives.on_host > 0)
    effect.refusal = "the host carries the collectives: how long they hold up a step was not recorded";
  else if (collectives.all.empty() && collectives.unnamed > 0)
    effect.refusal = "communication was recorded, but not what it carries";
  else if (collectives.all.empty())
    effect.no_effect = "no collective was recorded";
  else if (std::none_of(collectives.all.begin(), collectives.all.end(), is_known))
    effect.refusal = "neither sizes of collectives nor a second rank were recorded: what of their time is transfer";
  if (!effect.refusal.empty() || !effect.no_effect.empty()) return effect;
  const double latency =
      collectives.link.latency_ns * (factor < 1 ? ValueFor(estimate, 2, 1, 0) : ValueFor(estimate, 0, 1, 2));
  ScaleTransfers(collectives, latency, factor, times);
  effect.assumptions.push_back(StrCat("a collective takes ", FormatDuration(std::llround(collectives.link.latency_ns)),
                                      " besides its bytes",
                                      collectives.link.is_fitted ? "" : ", which the recorded sizes do not show"));
  return effect;
}

}  // namespace

FIX(network) = {
    .name = "network",
    .help = "Scale the network's time per byte by K",
    .safety = Safety::kHardware,
    .model = {
        .value = "K",
        .why = "What a collective takes beyond its latency takes K times as long; both are fitted to the recording's "
               "own collectives, the latency uncertain by a factor of two. What ranks wait for each other stays.",
        .apply = Apply}};

}  // namespace gapless::internal::network_fix
