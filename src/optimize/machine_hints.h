// SPDX-License-Identifier: Apache-2.0
// Speedups that are expected from what the recording says of the machine, where no prediction speaks for a value.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "gapless/bottleneck.h"
#include "optimize/fix.h"

namespace gapless::internal {

// Fewer threads where operators are tiny or loader workers need the processors; fewer workers where there are more
// busy processes than processors, or where no step waits for a batch. Absent: the recording says nothing of the item.
std::optional<double> HintedSpeedup(const FixItem& item, const FixContext& context,
                                    std::span<const Bottleneck> bottlenecks);

// Returns why no operator that the fix changes was recorded; empty: one was, or the operators are not known.
std::string WhyNothingToChange(const Fix& fix, const FixContext& context);

}  // namespace gapless::internal
