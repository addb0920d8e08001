// SPDX-License-Identifier: Apache-2.0
// Makes the RunSummary of a run. The type is public: gapless/summary.h.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/analysis.h"
#include "diagnose/rule.h"
#include "gapless/summary.h"

namespace gapless::internal {

// `single_step_ns`: the step time of the same job on one GPU, for its scaling efficiency; absent: not known.
RunSummary Summarise(Tables& tables, const Diagnosis& diagnosis, std::optional<int64_t> single_step_ns = {});

}  // namespace gapless::internal
