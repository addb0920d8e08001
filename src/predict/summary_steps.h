// SPDX-License-Identifier: Apache-2.0
// The replayed part of a run of summaries: the events that they hold (trace/summary.h), all of small recordings, else
// steps in the middle of each, as far as all have the same ones.
#pragma once

#include <optional>
#include <span>

#include "predict/typical_steps.h"

namespace gapless::internal {

// The run of `TypicalSteps` has the events of the candidates in their places, and nothing in all others. Absent: one of
// the candidates has no events, or they have no step in common. Where whole recordings are replayed `row` is all
// steps, if there are any.
std::optional<TypicalSteps> TakeSummarySteps(Tables& tables, std::span<const RunTrace* const> candidates);

}  // namespace gapless::internal
