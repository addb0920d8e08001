// SPDX-License-Identifier: Apache-2.0
// The option --single: the same job on one GPU, as a file (`one_gpu.json`) or as a step time (`118ms`), for the
// scaling.
#pragma once

#include <optional>

#include "cli/command.h"

namespace gapless::internal {

inline constexpr OptionSpec kSingleOption = {
    .name = "single",
    .takes = OptionSpec::Takes::kValue,
    .value = "RUN|TIME",
    .help = "Compute the scaling from the same job on one GPU: a recording, or its step time"};

// The step time of the job on one GPU in ns: the median of the recording's complete steps, or the time as given.
// Absent: the option was not given.
Result<std::optional<int64_t>> SingleStepNs(const Arguments& arguments, const Session& session);

// Returns "118ms", "0.12s", "950us" in ns, rounded; absent for a text that is not a time above 0, and without a unit.
std::optional<int64_t> ParseTimeNs(std::string_view text);

}  // namespace gapless::internal
