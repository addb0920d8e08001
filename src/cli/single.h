// SPDX-License-Identifier: Apache-2.0
// The option --single: the same job on one GPU, as a file (`one_gpu.json`) or as a step time (`118ms`), for the
// scaling.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/session.h"

namespace gapless::internal {

// The step time of the job on one GPU in ns: the median of the recording's complete steps, or the time as given.
Result<int64_t> SingleStepNs(const std::string& single, bool use_cache, const Session& session);

// Returns "118ms", "0.12s", "950us" in ns, rounded; absent for a text that is not a time above 0, and without a unit.
std::optional<int64_t> ParseTimeNs(std::string_view text);

}  // namespace gapless::internal
