// SPDX-License-Identifier: Apache-2.0
// The speedups of `threads`, `workers` and, on processors, `channels_last` that are expected from the recording and the
// machine, one for each value.
// More and fewer are different fixes: fewer threads help tiny operators, more help large ones.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "gapless/bottleneck.h"
#include "optimize/fix_item.h"

namespace gapless::internal {

struct MachineHint {
  std::optional<double> speedup{};  // expected; absent: the recording says nothing of the value
  std::string why_not{};            // why a run of the value could show no gain; empty: it could
};

// Returns the hint for one value of these fixes, an empty one for any other. Processors, the present
// value, the operators that can be split, the waits for batches and the processors that workers take come from
// `context`; what it lacks is derived from `bottlenecks`: are operators tiny, do steps wait?
MachineHint HintFor(const FixItem& item, const FixContext& context, std::span<const Bottleneck> bottlenecks);
// Returns true if all that is expected of the fix comes from HintFor(): what cures a bottleneck depends on the value.
bool IsHintedByValue(const Fix& fix);

// Returns why the fix has nothing to change: no operator that it changes was recorded, or the package that it needs
// cannot be imported or is not for this GPU. Empty: none of this is so, or it is not known.
std::string WhyNothingToChange(const Fix& fix, const FixContext& context);

}  // namespace gapless::internal
